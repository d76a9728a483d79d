/// The text of an address cannot be understood.
package struct ListenerAddressError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with the text.
    package enum Problem: String, Sendable {
        case noPort = "it has no port; write ADDRESS:PORT, as in 127.0.0.1:8080, or unix:/PATH"
        case badPort = "what follows the last colon is not a port from 0 to 65535"
        case noBrackets = "an IPv6 address stands in brackets, as in [::1]:8080"
        case notAnIPAddress = "what precedes the port is not an IP address; names are not looked up"
        case notAnAbsolutePath = "after unix: there must be the absolute path of a file"
        case pathTooLong = "the path of a Unix socket has at most 107 bytes"
        case badMode = "the mode of a Unix socket has no bits but 0777"
    }

    /// The text as it was given.
    package let text: String

    /// What is wrong with it.
    package let problem: Problem

    package var description: String { "\"\(text)\" is no address to listen on: \(problem.rawValue)" }

    init(_ text: String, _ problem: Problem) {
        self.text = text
        self.problem = problem
    }
}
