import Curl
import Synchronization
import TestSupport
import Testing

struct CurlAddressTests {
    @Test("An address that is not admitted is not connected to")
    func refused() async throws {
        let asked = Mutex<[[UInt8]]>([])
        try await CurlFixture.run(
            configure: { configuration in
                configuration.admitsAddress = { address in
                    asked.withLock { $0.append(address) }
                    return false
                }
            },
            during: { client, server in
                let error = await CurlFixture.failure(of: .patient(.post, server.url, body: [1]), by: client)
                #expect(error?.kind == .addressRefused)
                #expect(error?.requestMayHaveBeenSent == false)
                #expect(server.requests.isEmpty)
                // The name leads here by IPv4, and maybe by IPv6 too.
                #expect(asked.withLock { $0.contains([127, 0, 0, 1]) })
                #expect(await client.heartbeat())
            })
    }

    @Test(
        "A number that stands for an address is asked about as the address",
        arguments: ["127.0.0.1", "2130706433", "0x7f.1"])
    func numbers(_ host: String) async throws {
        let asked = Mutex<[[UInt8]]>([])
        try await CurlFixture.run(
            configure: { configuration in
                configuration.admitsAddress = { address in
                    asked.withLock { $0.append(address) }
                    return false
                }
            },
            during: { client, server in
                let error = await CurlFixture.failure(of: .patient(.get, "https://\(host):\(server.port)/"), by: client)
                #expect(error?.kind == .addressRefused)
                #expect(asked.withLock(\.self) == [[127, 0, 0, 1]])
            })
    }

    @Test("An address that is admitted is connected to, and its connection kept")
    func admitted() async throws {
        let asked = Mutex(0)
        try await CurlFixture.run(
            configure: { configuration in
                configuration.admitsAddress = { address in
                    asked.withLock { $0 += 1 }
                    return address == [127, 0, 0, 1]
                }
            },
            during: { client, server in
                for _ in 0..<3 {
                    let response = try await client.perform(.patient(.get, server.url))
                    #expect(response.status == 200)
                }
                #expect(server.connectionCount == 1)
                #expect(asked.withLock(\.self) >= 1)
            })
    }
}
