import Listener

/// The `address` of a listener: somewhere, or nowhere.
enum ListenerChoice: Equatable {
    /// Switched off.
    case none
    case at(ListenerAddress)
}

extension ConfigurationValue<ListenerChoice> {
    static var listenerAddress: Self {
        Self(
            expectation: "`127.0.0.1:8080`, `[::1]:8080`, `unix:/absolute/path` or the like, or `none` for no listener"
        ) { text in
            if text == "none" { return ListenerChoice.none }
            return (try? ListenerAddress(text)).map(ListenerChoice.at)
        }
    }
}

extension ConfigurationValue<UInt16> {
    /// The permissions of a Unix socket.
    static var socketMode: Self {
        Self(expectation: "three or four octal digits in quotes, such as \"0660\"") { text in
            guard (3...4).contains(text.count), let mode = UInt16(text, radix: 8), mode <= 0o777 else { return nil }
            return mode
        }
    }
}
