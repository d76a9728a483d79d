import Listener
import Testing

@Suite struct ListenerAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8080", ListenerAddress.tcp(host: "127.0.0.1", port: 8080)),
        ("0.0.0.0:0", .tcp(host: "0.0.0.0", port: 0)),
        ("[::1]:65535", .tcp(host: "::1", port: 65535)),
        ("unix:/run/name/admin.sock", .unix(path: "/run/name/admin.sock", mode: 0o600)),
    ])
    func parsesAndPrints(_ text: String, _ address: ListenerAddress) throws {
        #expect(try ListenerAddress(text) == address)
        #expect(address.description == text)
    }

    @Test(arguments: [
        ("8080", ListenerAddressError.Problem.noPort), ("", .noPort), ("127.0.0.1:", .badPort),
        ("127.0.0.1:65536", .badPort), ("127.0.0.1:-1", .badPort), ("127.0.0.1:+1", .badPort),
        ("127.0.0.1:http", .badPort), ("::1:8080", .noBrackets), ("localhost:8080", .notAnIPAddress),
        (":8080", .notAnIPAddress), ("[127.0.0.1:80", .notAnIPAddress), ("[::g]:80", .notAnIPAddress),
        ("256.0.0.1:80", .notAnIPAddress), ("unix:", .notAnAbsolutePath), ("unix:name.sock", .notAnAbsolutePath),
        ("unix:/run/", .notAnAbsolutePath), ("unix:/a\u{0}b", .notAnAbsolutePath),
        ("unix:/" + String(repeating: "x", count: 107), .pathTooLong),
    ])
    func saysWhatIsWrong(_ text: String, _ problem: ListenerAddressError.Problem) {
        let error = #expect(throws: ListenerAddressError.self) { try ListenerAddress(text) }
        #expect(error?.problem == problem)
        #expect(error?.text == text)
    }

    @Test func aPathMayFillTheKernelsStructure() throws {
        let path = "/" + String(repeating: "x", count: 106)
        #expect(try ListenerAddress("unix:\(path)", mode: 0o660) == .unix(path: path, mode: 0o660))
    }

    @Test func aModeHasOnlyPermissionBits() {
        let error = #expect(throws: ListenerAddressError.self) { try ListenerAddress("unix:/a", mode: 0o4755) }
        #expect(error?.problem == .badMode)
    }

    @Test(arguments: [
        ("127.0.0.1:80", true), ("127.9.9.9:80", true), ("[::1]:80", true), ("[::ffff:127.0.0.1]:80", true),
        ("unix:/a", true), ("0.0.0.0:80", false), ("192.0.2.1:80", false), ("[::]:80", false),
        ("[::ffff:192.0.2.1]:80", false), ("[2001:db8::7f00:1]:80", false),
    ])
    func knowsWhatStaysOnThisMachine(_ text: String, _ isLocal: Bool) throws {
        #expect(try ListenerAddress(text).isLocal == isLocal)
    }
}
