import Listener
import Systemd
import Testing

@testable import Daemon

/// Which listener a socket of the service manager's is for.
struct InheritedListenersTests {
    private let configuration = ListenersConfiguration(
        api: ListenerSettings(address: .tcp(host: "127.0.0.1", port: 8080)),
        admin: ListenerSettings(address: .unix(path: "/run/purser-admin.sock", mode: 0o600)))

    private func problem(_ names: String...) -> String? {
        do throws(InheritedListeners.Problem) {
            _ = try InheritedListeners(
                names.enumerated().map { InheritedSocket(name: $1, descriptor: 3 + Int32($0)) }, for: configuration)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a socket goes to the listener of its name, and the others open their own`() throws {
        let sockets = [InheritedSocket(name: "admin", descriptor: 3), InheritedSocket(name: "api", descriptor: 4)]
        let inherited = try InheritedListeners(sockets, for: configuration)
        #expect(inherited["admin"] == 3 && inherited["api"] == 4 && inherited["health"] == nil)
        let none = try InheritedListeners([], for: configuration)
        #expect(none["api"] == nil)
    }

    @Test func `every other name is told, with what to do`() {
        #expect(problem("api", "admin") == nil)
        #expect(problem("purser.socket")?.contains("FileDescriptorName= of its socket unit to one of `api`") == true)
        #expect(problem("webhook")?.contains("`listeners.webhook.address`") == true)
        #expect(problem("api", "api")?.contains("leave one ListenStream=") == true)
    }

    @Test func `listeners are known by their names`() {
        for name in ListenersConfiguration.names {
            #expect((configuration[name] != nil) == ["api", "admin"].contains(name))
        }
        #expect(configuration["none"] == nil)
    }

    @Test func `a process to which nothing is handed over has none`() throws {
        #expect(try InheritedSocket.all() == [])
    }
}
