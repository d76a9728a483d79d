import Foundation
import JSON
import OpenSSL
import Testing

@testable import AppStoreSimulator

struct StateDirectoryTests {
    private func withDirectory(_ test: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await test(path)
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `certificates outlive a restart`() async throws {
        try await withDirectory { path in
            let first = try await Simulator.start(SimulatorConfiguration(stateDirectory: path))
            await first.stop()
            let second = try await Simulator.start(SimulatorConfiguration(stateDirectory: path))
            await second.stop()
            #expect(first.root == second.root)
            #expect(first.tlsAuthority == second.tlsAuthority)
        }
    }

    @Test func `simulators without a folder share nothing`() async throws {
        let first = try await Simulator.start(SimulatorConfiguration())
        let second = try await Simulator.start(SimulatorConfiguration())
        await first.stop()
        await second.stop()
        #expect(first.root != second.root)
    }

    @Test func `keys are for their owner only`() async throws {
        try await withDirectory { path in
            try await Simulator.start(SimulatorConfiguration(stateDirectory: path)).stop()
            #expect(try permissions(path) == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            #expect(names.filter { $0.hasSuffix(".key") }.count == 4)
            for name in names where name.hasSuffix(".key") { #expect(try permissions("\(path)/\(name)") == 0o600) }
            #expect(names.allSatisfy { !$0.hasSuffix(".new") })
        }
    }

    @Test func `the announcement names addresses and files`() async throws {
        try await withDirectory { path in
            let simulator = try await Simulator.start(SimulatorConfiguration(stateDirectory: path, seed: 7))
            let file = path + "/ready.json"
            try simulator.announce(inFile: file)
            let line = try String(contentsOfFile: file, encoding: .utf8)
            #expect(line == simulator.announcement + "\n")
            let value = try JSONValue(parsing: line)
            #expect(value["production"]?.string == simulator.baseURL(.production))
            #expect(value["sandbox"]?.string == simulator.baseURL(.sandbox))
            #expect(value["control"]?.string == simulator.controlURL)
            #expect(value["seed"] == 7)
            let der = try Data(contentsOf: URL(filePath: #require(value["rootDER"]?.string)))
            #expect(try Certificate(der: Array(der)) == simulator.root)
            let pem = try String(contentsOfFile: #require(value["rootPEM"]?.string), encoding: .utf8)
            #expect(try Certificate(pem: pem) == simulator.root)
            let tls = try String(contentsOfFile: #require(value["tlsCAPEM"]?.string), encoding: .utf8)
            #expect(try Certificate(pem: tls) == simulator.tlsAuthority)
            await simulator.stop()
        }
    }

    @Test func `a folder that cannot be made or a damaged file is an error`() async throws {
        await #expect(throws: StateDirectoryError.self) {
            try await Simulator.start(SimulatorConfiguration(stateDirectory: "/dev/null/state"))
        }
        try await withDirectory { path in
            try await Simulator.start(SimulatorConfiguration(stateDirectory: path)).stop()
            try "damaged".write(toFile: path + "/leaf.key", atomically: true, encoding: .utf8)
            await #expect(throws: PrivateKeyError.self) {
                try await Simulator.start(SimulatorConfiguration(stateDirectory: path))
            }
        }
    }
}
