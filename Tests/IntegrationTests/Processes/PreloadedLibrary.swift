import Foundation
import TestSupport

/// Shared objects that are loaded into one process before the C library, written and compiled by a test: what the process then
/// sees of its machine is what the test wants it to see.
///
/// Source: ld.so(8), `LD_PRELOAD`
enum PreloadedLibrary {
    /// The compiler that comes with Swift, or the system's; nil without one.
    static let compiler: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return ["clang", "cc"].lazy.flatMap { name in folders.map { "\($0)/\(name)" } }
            .first { access($0, X_OK) == 0 }
    }()

    /// Compiles it into a folder.
    ///
    /// - Returns: its path, for `LD_PRELOAD`.
    static func compile(_ source: String, named name: String, in folder: URL) async throws -> String {
        guard let compiler else { throw DaemonStage.Failure(description: "no C compiler here") }
        let code = folder.appending(path: "\(name).c")
        let library = folder.appending(path: "\(name).so").path
        try source.write(to: code, atomically: true, encoding: .utf8)
        let command = try ChildProcess([compiler, "-shared", "-fPIC", "-O1", "-o", library, code.path, "-ldl"])
        guard try await command.ended == 0 else {
            throw DaemonStage.Failure(description: "\(compiler) cannot compile \(name)")
        }
        return library
    }
}
