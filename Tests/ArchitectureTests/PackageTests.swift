import Foundation
import TestSupport
import Testing

/// What the manifest asks for: only what is used, by those who use it.
struct PackageTests {
    @Test func `only the bench asks for the client that it compares with`() async throws {
        let plain = try await Manifest(isForBench: false)
        let bench = try await Manifest(isForBench: true)
        #expect(!plain.dependencies.contains("async-http-client"))
        #expect(!plain.targets.contains { $0.dependencies.contains("AsyncHTTPClient") })
        #expect(bench.dependencies.contains("async-http-client"))
        #expect(bench.targets.filter { $0.dependencies.contains("AsyncHTTPClient") }.map(\.name) == ["purser-bench"])
    }

    @Test func `every product and target that a target asks for is imported by it`() async throws {
        let manifest = try await Manifest(isForBench: false)
        #expect(manifest.targets.count > 30)
        for target in manifest.targets where target.kind != "system" {
            let folder = target.path ?? (target.kind == "test" ? "Tests/\(target.name)" : "Sources/\(target.name)")
            let imported = try Repository.swiftFiles(below: folder).reduce(into: Set<String>()) {
                $0.formUnion(try Repository.imports(of: $1))
            }
            // A test of a program runs it, and need not import it.
            let programs: Set = ["purser", "appstore-simulator"]
            for dependency in target.dependencies where !programs.contains(dependency) {
                let module = dependency.replacing("-", with: "_")
                #expect(imported.contains(module), "\(target.name) asks for \(dependency) and does not import it")
            }
        }
    }
}

/// `Package.swift`, as the package manager reads it.
private struct Manifest {
    struct Target {
        let name: String
        let kind: String
        let path: String?
        let dependencies: [String]
    }

    struct Unreadable: Error {
        let output: String
    }

    /// The identities of the packages that it names.
    let dependencies: [String]
    let targets: [Target]

    init(isForBench: Bool) async throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "purser-manifest-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        var environment = ProcessInfo.processInfo.environment
        environment["PURSER_BENCH"] = isForBench ? "1" : nil
        let run = try await ChildProcess.run(
            [
                "swift", "package", "--package-path", Repository.root.path, "--scratch-path", scratch.path,
                "dump-package",
            ], environment: environment)
        guard run.status == 0,
            let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any],
            let packages = json["dependencies"] as? [[String: Any]], let targets = json["targets"] as? [[String: Any]]
        else { throw Unreadable(output: run.output + run.errorOutput) }
        dependencies = packages.flatMap { ($0["sourceControl"] as? [[String: Any]]) ?? [] }
            .compactMap { $0["identity"] as? String }
        self.targets = targets.map { target in
            let named = (target["dependencies"] as? [[String: [Any?]]]) ?? []
            return Target(
                name: target["name"] as? String ?? "", kind: target["type"] as? String ?? "",
                path: target["path"] as? String,
                dependencies: named.compactMap { $0.values.first?.first as? String })
        }
    }
}
