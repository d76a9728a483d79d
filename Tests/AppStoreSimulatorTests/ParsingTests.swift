import AppStoreAPI
import Foundation
import Testing

@testable import AppStoreSimulator

struct ParsingTests {
    @Test(arguments: [
        ("127.0.0.1:0", "127.0.0.1", 0), ("localhost:65535", "localhost", 65_535), ("[::1]:8443", "::1", 8443),
        ("0.0.0.0:443", "0.0.0.0", 443),
    ])
    func `an address is host and port`(text: String, host: String, port: Int) {
        #expect(ListenAddress(text) == ListenAddress(host: host, port: port))
    }

    @Test(arguments: [
        "", "127.0.0.1", ":80", "localhost:", "localhost:65536", "localhost:-1", "::1:80", "[]:80", "a:b",
    ])
    func `anything else is no address`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test func `only this machine's addresses are loopback`() {
        for host in ["127.0.0.1", "127.255.1.2", "::1", "localhost"] {
            #expect(ListenAddress(host: host, port: 0).isLoopback)
        }
        for host in ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.com", "127.example", "localhost.example"] {
            #expect(!ListenAddress(host: host, port: 0).isLoopback)
        }
    }

    @Test func `an IPv6 address stands in brackets in a URL`() {
        #expect(ListenAddress(host: "::1", port: 1).authority == "[::1]:1")
        #expect(ListenAddress(host: "localhost", port: 1).authority == "localhost:1")
    }

    @Test func `a query is decoded, repeated names included`() {
        let items = QueryItem.parse("a=1&a=2&b=x%20y+z&c&d=e%3Df&%41=%zz&=")
        #expect(items.map(\.name) == ["a", "a", "b", "c", "d", "A", ""])
        #expect(items.map(\.value) == ["1", "2", "x y z", "", "e=f", "%zz", ""])
    }

    @Test func `every endpoint's path leads back to it`() {
        for operation in Endpoint.Operation.allCases {
            let segments = operation.pathTemplate.split(separator: "/")
            let path = segments.map { $0.hasPrefix("{") ? "/7%2F8" : "/" + $0 }.joined()
            let parameters = segments.filter { $0.hasPrefix("{") }.map { _ in "7/8" }
            #expect(
                AppleRoute(method: operation.method, path: path[...]) == .operation(operation, parameters: parameters))
            guard case .otherMethod(let allowed) = AppleRoute(method: "PATCH", path: path[...]) else {
                Issue.record("\(operation) takes PATCH")
                continue
            }
            #expect(allowed.contains(operation.method))
        }
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
    func `dates are written as HTTP has them`(seconds: Int, text: String) {
        #expect(HTTPDate.text(Date(timeIntervalSince1970: TimeInterval(seconds))) == text)
    }

    @Test func `a revision reads back what it was made of`() throws {
        let revision = Revision(list: "a list; with = signs", position: Revision.Position(key: -5, modification: 9))
        #expect(try Revision(revision.text, of: revision.list) == revision)
        #expect(throws: AppleServiceError.self) { try Revision(revision.text, of: "another list") }
    }

    @Test func `the log keeps the latest requests and counts all`() {
        var log = ReceivedLog()
        let total = ReceivedLog.capacity + ReceivedLog.capacity / 10
        for _ in 0..<total {
            let number = log.nextNumber()
            log.append(
                ReceivedRequest(
                    number: number, arrival: 0, time: 0, environment: .sandbox, method: "GET", path: "/", query: nil,
                    operation: nil, identifier: nil, bundleID: nil, keyID: nil, body: nil, consumption: nil,
                    bodyCount: 0, status: 404, errorCode: nil, reason: nil, faults: []))
        }
        #expect(log.requests.count == ReceivedLog.capacity)
        #expect(log.requests.last?.number == total)
        #expect(log.dropped == total - ReceivedLog.capacity)
        #expect(log.counts.values.reduce(0, +) == total)
    }
}
