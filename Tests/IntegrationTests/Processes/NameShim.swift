import Foundation

/// A name whose address a test chooses for one process alone, by a shared object that is loaded before the C library: a
/// resolver that answers, knows nothing, or hangs.
///
/// Source: ld.so(8), `LD_PRELOAD`; getaddrinfo(3)
struct NameShim: Sendable {
    /// The one name that it is asked about.
    static let name = "appstore.test"

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <netdb.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <time.h>

        /* What the test has written: an address, "hangs", or nothing. */
        static void read_answer(char *answer, int size) {
            const char *path = getenv("NAME_SHIM");
            FILE *file = path ? fopen(path, "re") : NULL;
            answer[0] = 0;
            if (!file) return;
            if (!fgets(answer, size, file)) answer[0] = 0;
            fclose(file);
        }

        int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
            int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                dlsym(RTLD_NEXT, "getaddrinfo");
            char answer[64];
            if (!node || strcmp(node, "\(name)")) return real(node, service, hints, result);
            for (read_answer(answer, sizeof answer); !strcmp(answer, "hangs"); read_answer(answer, sizeof answer)) {
                struct timespec moment = {0, 5000000};
                nanosleep(&moment, NULL);
            }
            return answer[0] ? real(answer, service, hints, result) : EAI_AGAIN;
        }

        """

    private let library: String
    private let answer: URL

    /// Compiles it into a folder; the name leads to this machine.
    init(in folder: URL) async throws {
        library = try await PreloadedLibrary.compile(Self.source, named: "name-shim", in: folder)
        answer = folder.appending(path: "name-answer")
        try leads(to: "127.0.0.1")
    }

    /// What a process needs in its environment to have this resolver.
    var environment: [String: String] { ["LD_PRELOAD": library, "NAME_SHIM": answer.path] }

    /// From the next question on, also in a process that runs; nil: the resolver has no answer, and says so.
    func leads(to address: String?) throws {
        try (address ?? "").write(to: answer, atomically: true, encoding: .utf8)
    }

    /// Lets questions wait for as long as nothing else is said.
    func hangs() throws { try leads(to: "hangs") }
}
