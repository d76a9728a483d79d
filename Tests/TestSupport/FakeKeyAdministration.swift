package import Domain
import Synchronization

/// Keys without anything secret, for tests of what stands before the custodian; it remembers what it was asked.
package final class FakeKeyAdministration: KeyAdministration {
    private struct State {
        var keys: [KeyDetails] = []
        var calls: [String] = []
        var texts: [[UInt8]] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds a key.
    package func add(_ key: KeyDetails) { state.withLock { $0.keys.append(key) } }

    /// What was asked, in order.
    package var calls: [String] { state.withLock(\.calls) }

    /// The texts that were imported.
    package var texts: [[UInt8]] { state.withLock(\.texts) }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    package func overview() async -> KeyOverview {
        KeyOverview(masterKeyID: "0011223344556677", keys: state.withLock(\.keys), directoryProblems: [])
    }

    package func key(_ keyID: String) async throws(ServiceError) -> KeyDetails {
        guard let key = state.withLock(\.keys).first(where: { $0.facts.keyID == keyID }) else {
            throw ServiceError(.keyNotFound, "There is no key `\(keyID)`.")
        }
        return key
    }

    package func importKey(_ request: KeyImport, by actor: Actor) async throws(ServiceError) -> KeyDetails {
        let text = request.text.withUnsafeBytes { Array($0) }
        let key = KeyDetails(
            facts: KeyFacts(
                keyID: request.keyID, issuerID: request.issuerID, apps: request.apps, source: .imported,
                fingerprint: "ff", importedBy: actor.name),
            state: .standby, activeApps: [], history: nil, warnings: [])
        state.withLock { state in
            state.texts.append(text)
            state.keys.append(key)
            state.calls.append("import \(request.keyID) by \(actor.name)")
        }
        return key
    }

    package func check(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyCheck {
        let key = try await key(keyID)
        note("check \(keyID) by \(actor.name)")
        return KeyCheck(
            keyID: keyID,
            findings: key.facts.apps.map {
                KeyCheck.Finding(app: $0, environment: .sandbox, verdict: .accepted)
            })
    }

    package func activate(
        _ keyID: String, apps: [String]?, unchecked: Bool, by actor: Actor
    ) async throws(ServiceError) -> KeyDetails {
        let key = try await key(keyID)
        note(
            "activate \(keyID) for \(apps?.joined(separator: ",") ?? "all")\(unchecked ? " unchecked" : "") by \(actor.name)"
        )
        return key
    }

    package func retire(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyDetails {
        let key = try await key(keyID)
        note("retire \(keyID) by \(actor.name)")
        return key
    }

    package func revoke(_ keyID: String, by actor: Actor) async throws(ServiceError) -> KeyDetails {
        let key = try await key(keyID)
        note("revoke \(keyID) by \(actor.name)")
        return key
    }

    package func delete(_ keyID: String, by actor: Actor) async throws(ServiceError) {
        _ = try await key(keyID)
        note("delete \(keyID) by \(actor.name)")
    }

    package func rewrap(by actor: Actor) async throws(ServiceError) -> MasterKeyChange {
        note("rewrap by \(actor.name)")
        return MasterKeyChange(masterKeyID: "8899aabbccddeeff", rewrapped: 3, failures: [], fileToClean: nil)
    }
}
