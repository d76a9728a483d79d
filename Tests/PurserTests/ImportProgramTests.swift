import Foundation
import TestSupport
import Testing

/// `purser import links` as an operator types it; no daemon runs.
struct ImportProgramTests {
    private static let nowhere = ["--socket", "/nowhere/admin.sock", "--app", "coins"]

    @Test(arguments: [
        ("user,kind,value\na,transactionId,1\n", 1, "No daemon answers at unix:/nowhere/admin.sock"),
        (#"{"user":"a","kind":"transactionId","value":"1"}"#, 1, "No line is done."),
        ("user,kind\n", 65, "lacks value"), ("", 65, "The file is empty"),
    ])
    func `the standard input is read, and the exit code tells what is wrong`(
        input: String, status: Int32, message: String
    ) async throws {
        let outcome = try await Program.run(["import", "links", "-"] + Self.nowhere, input: input)
        #expect(outcome.status == status)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errorOutput.contains(message), "\(outcome.errorOutput)")
    }

    @Test func `a list of nothing is imported without a daemon`() async throws {
        let outcome = try await Program.run(["import", "links", "-"] + Self.nowhere, input: "user,kind,value\n")
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("0 lines: 0 created"))
    }

    @Test func `a file that is not there ends with 66`() async throws {
        let outcome = try await Program.run(["import", "links", "/nowhere.csv"] + Self.nowhere)
        #expect(outcome.status == 66)
        #expect(outcome.errorOutput.contains("/nowhere.csv"))
    }

    @Test func `an interruption ends a run that waits for input`() async throws {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "purser").path
        // The shell holds the input open, waits until the program heeds SIGTERM (bit 14 of what /proc tells), and asks until
        // it ends. Should the shell end first, so does the input, and with it the program.
        let script = """
            exec 3> >(exec "$@")
            pid=$!
            until grep -Eq '^Sig(Cgt|Ign):.*[4-7c-f]...$' /proc/$pid/status; do kill -0 $pid || exit 99; done
            while kill -TERM $pid; do read -t 0.05 <> <(:); done
            wait $pid
            """
        let outcome = try await ChildProcess.run(
            ["/bin/bash", "-c", script, "shell", program, "import", "links", "-"] + Self.nowhere)
        #expect(outcome.status == 130)
    }
}
