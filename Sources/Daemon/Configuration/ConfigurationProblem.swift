/// One thing that is wrong with the configuration: where, which key, what, and how to mend it.
///
/// The message never repeats a value that could be a secret.
package struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    package let origin: ConfigurationOrigin
    /// The path of the key, such as `listeners.api.address` or `keys[1].id`; empty when the problem is the whole file's.
    package let key: String
    package let message: String

    package init(_ origin: ConfigurationOrigin, key: String = "", _ message: String) {
        self.origin = origin
        self.key = key
        self.message = message
    }

    package var description: String {
        [origin.description, key, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
