/// Which caller a key stands for: those of the configuration, and beside them those that exist by their keys alone.
///
/// A name means one caller. A key of a configured caller has no scopes of its own; any other key has. A key that fits
/// neither stands for nobody: its caller has left the configuration, or has come into it under a name that was taken.
package struct CallerRegister: Sendable {
    private let configured: [String: Caller]

    /// `configured`: the callers of the configuration.
    package init(configured: [Caller]) {
        self.configured = Dictionary(configured.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The callers of the configuration, by name in ascending order.
    package var all: [Caller] { configured.values.sorted { $0.name < $1.name } }

    /// The caller of the configuration with this name.
    package func configuredCaller(_ name: String) -> Caller? { configured[name] }

    /// Who the bearer of a key is, with what it may do with the key's app; nil when the key stands for nobody.
    package func bearer(of key: CallerKey) -> Caller? {
        guard key.revokedAt == nil else { return nil }
        switch (configured[key.caller], key.scopes) {
        case (let caller?, nil):
            return caller.scopes[key.app].map { Caller(name: caller.name, scopes: [key.app: $0]) }
        case (nil, let scopes?): return Caller(name: key.caller, scopes: [key.app: scopes])
        default: return nil
        }
    }
}
