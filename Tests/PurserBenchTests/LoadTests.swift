import Foundation
import Testing

@testable import purser_bench

/// What the load generators are given and what they print.
struct LoadTests {
    @Test func `requests come back from their file as they went in`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "requests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let requests = [
            RequestFile.request("GET", "/a", headers: [("Authorization", "Bearer x")]),
            RequestFile.request("POST", "/b", body: Array("{}".utf8)),
        ]
        try RequestFile.write(requests, to: file)
        #expect(try RequestFile.read(file.path) == requests)
        #expect(String(decoding: requests[0], as: UTF8.self).hasSuffix("\r\nAuthorization: Bearer x\r\n\r\n"))
        #expect(String(decoding: requests[1], as: UTF8.self).hasSuffix("\r\nContent-Length: 2\r\n\r\n{}"))
    }

    @Test func `a file that is cut off is refused`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "requests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data([9, 0, 0, 0, 1]).write(to: file)
        #expect(throws: BenchError.self) { try RequestFile.read(file.path) }
    }

    private static let output = """
        Running 1s test @ http://127.0.0.1:8080/
          Latency Distribution
             50%  850.00us
             75%    1.10ms
             90%    1.40ms
             99%    2.05ms
          9000 requests in 1.00s, 9.00MB read
        Requests/sec:   8997.31
        Transfer/sec:      9.00MB
        """

    @Test func `rates and times are read from what wrk prints`() throws {
        let result = try Wrk.result(Self.output)
        #expect(result.requestsPerSecond == 8997.31)
        #expect(result.median == 0.85)
        #expect(result.percentile99 == 2.05)
    }

    @Test(arguments: ["  Non-2xx or 3xx responses: 3", "  Socket errors: connect 0, read 2, write 0, timeout 0"])
    func `answers that are no successes fail the measurement`(line: String) {
        #expect(throws: BenchError.self) { try Wrk.result("\(Self.output)\n\(line)\n") }
    }
}

/// The daemons that are measured.
struct ConfigurationTests {
    @Test(arguments: [StoreSize.small, .large])
    func `the ten apps that are asked about lie as far apart as they can`(size: StoreSize) {
        let configuration = size.configuration
        let apps = (0..<PurserConfiguration.measuredApps).map(configuration.measuredApp)
        #expect(Set(apps).count == 10)
        #expect(apps.last == "a\(size.apps / 10 * 9)")
    }
}

/// What answers are compared with.
struct ReferenceTests {
    @Test func `bare commits are as durable as the store's`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "commits-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        // It refuses to measure anything less.
        let probe = CommitProbe(path: folder.appending(path: "commits.db").path, seconds: 0.05)
        #expect(try await probe.run().median > 0)
    }
}
