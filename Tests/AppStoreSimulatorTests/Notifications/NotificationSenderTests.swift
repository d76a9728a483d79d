import AppStoreAPI
import Foundation
import TestSupport
import Testing

@testable import AppStoreSimulator

/// One attempt to deliver, against real servers on sockets.
struct NotificationSenderTests {
    private let sender = NotificationSender()
    private let body = Array(#"{"signedPayload":"a.b.c"}"#.utf8)

    private func expect(
        _ result: SendAttemptResult, from url: String, trusting authorities: String? = nil,
        timeout: Duration = Wait.limit, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let address = NotificationAddress(
            url: try #require(NotificationURL(url)), certificateAuthorities: authorities)
        let actual = await sender.post(body, to: address, timeout: timeout)
        #expect(actual == result, sourceLocation: sourceLocation)
    }

    @Test(arguments: [200, 201, 204, 206])
    func `a status from 200 to 206 confirms`(status: Int) async throws {
        try await NotificationReceiver.with(.status(status)) { receiver in
            try await expect(.success, from: receiver.url)
            let request = try #require(receiver.requests.first)
            #expect(receiver.requests.count == 1)
            #expect(request.head.hasPrefix("POST /notify?from=apple HTTP/1.1\r\n"))
            #expect(request.head.contains("\r\nContent-Type: application/json\r\n"))
            #expect(request.head.contains("\r\nHost: 127.0.0.1:"))
            #expect(request.body == body)
        }
    }

    @Test(arguments: [207, 226, 303, 304, 400, 404, 500, 503])
    func `another status does not`(status: Int) async throws {
        try await NotificationReceiver.with(.status(status)) { receiver in
            try await expect(.unsuccessfulHTTPResponseCode, from: receiver.url)
        }
    }

    @Test func `an answer without length ends with the connection`() async throws {
        try await NotificationReceiver.with(.raw("HTTP/1.1 200 OK\r\n\r\nthank you")) { receiver in
            try await expect(.success, from: receiver.url)
        }
    }

    @Test func `TLS works with a private authority that is trusted`() async throws {
        try await NotificationReceiver.with(.status(200), encrypted: true) { receiver in
            try await expect(.success, from: receiver.url, trusting: receiver.authority)
            #expect(receiver.requests.count == 1)
        }
    }

    @Test func `TLS with an authority that nobody trusts is a TLS issue`() async throws {
        try await NotificationReceiver.with(.status(200), encrypted: true) { receiver in
            try await expect(.tlsIssue, from: receiver.url)
            #expect(receiver.requests.isEmpty)
        }
    }

    @Test func `a server without TLS behind an https URL is a TLS issue`() async throws {
        try await NotificationReceiver.with(.status(200)) { receiver in
            let url = "https" + receiver.url.dropFirst("http".count)
            try await expect(.tlsIssue, from: url)
        }
    }

    @Test func `a server that does not answer times out`() async throws {
        try await NotificationReceiver.with(.silence) { receiver in
            try await expect(.timedOut, from: receiver.url, timeout: .milliseconds(200))
        }
    }

    @Test func `a server that hangs up has given no response`() async throws {
        try await NotificationReceiver.with(.close) { receiver in
            try await expect(.noResponse, from: receiver.url)
        }
    }

    @Test func `a response that breaks off is a premature close`() async throws {
        try await NotificationReceiver.with(.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")) { receiver in
            try await expect(.prematureClose, from: receiver.url)
        }
    }

    @Test func `what is not HTTP is an invalid response`() async throws {
        try await NotificationReceiver.with(.raw("Hello, this is no HTTP\r\n\r\n")) { receiver in
            try await expect(.invalidResponse, from: receiver.url)
        }
    }

    @Test func `a character set that nobody knows is unsupported`() async throws {
        try await NotificationReceiver.with(.status(200, "Content-Type: text/plain; charset=klingon\r\n")) { receiver in
            try await expect(.unsupportedCharset, from: receiver.url)
        }
        try await NotificationReceiver.with(.status(200, "Content-Type: text/plain; charset=\"UTF-8\"\r\n")) {
            receiver in
            try await expect(.success, from: receiver.url)
        }
    }

    @Test func `a redirection is followed with the same body`() async throws {
        try await NotificationReceiver.with(.status(200)) { second in
            try await NotificationReceiver.with(.status(307, "Location: \(second.url)\r\n")) { first in
                try await expect(.success, from: first.url)
                #expect(second.requests.first?.body == body)
            }
        }
    }

    @Test func `a redirection to itself is circular`() async throws {
        try await NotificationReceiver.with(.status(302, "Location: /notify?from=apple\r\n")) { receiver in
            try await expect(.circularRedirect, from: receiver.url)
            #expect(receiver.requests.count == 1)
        }
    }

    @Test func `a redirection to nowhere is an invalid response`() async throws {
        try await NotificationReceiver.with(.status(301)) { receiver in
            try await expect(.invalidResponse, from: receiver.url)
        }
    }

    @Test func `a port where nobody listens is a socket issue`() async throws {
        // Bound, but not listening: nobody else gets the port meanwhile.
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        try #require(isBound)
        let port = UInt16(bigEndian: address.sin_port)
        try await expect(.socketIssue, from: "http://127.0.0.1:\(port)/")
    }

    @Test(arguments: ["", "ftp://example.com", "/notify", "https://", "https://user@example.com/", "mailto:a@b.c"])
    func `what is not an absolute HTTP URL is none`(text: String) {
        #expect(NotificationURL(text) == nil)
    }

    @Test func `a URL is taken apart`() throws {
        let url = try #require(NotificationURL("https://[::1]/a%20b?c=d"))
        #expect(url.isEncrypted && url.host == "::1" && url.port == 443)
        #expect(url.target == "/a%20b?c=d" && url.authority == "[::1]")
        let plain = try #require(NotificationURL("http://example.com:81"))
        #expect(plain.target == "/" && plain.authority == "example.com:81")
    }
}
