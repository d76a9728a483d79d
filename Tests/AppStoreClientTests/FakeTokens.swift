import Domain
import Foundation
import Synchronization

/// Gives out tokens that say which key made them, such as `ACTIVE.1`, and keeps to the rules of `TokenSource`.
final class FakeTokens: TokenSource {
    private struct State {
        var activeKeyID = "ACTIVE"
        var standbyKeyIDs: [String]
        var generation: UInt64 = 1
        var mayReplace = true
    }

    private let state: Mutex<State>
    /// How far the tokens' dates are from the test's clock.
    private let lead: TimeInterval

    init(standby: [String] = [], lead: TimeInterval = 0) {
        state = Mutex(State(standbyKeyIDs: standby))
        self.lead = lead
    }

    var activeKeyID: String { state.withLock(\.activeKeyID) }
    /// How many tokens the active key has made.
    var generation: UInt64 { state.withLock(\.generation) }

    func token(for app: App) throws(ServiceError) -> BearerToken {
        state.withLock { make($0.activeKeyID, $0.generation) }
    }

    /// Replaces a token once only.
    func refused(_ token: BearerToken, for app: App) {
        state.withLock { state in
            guard state.mayReplace, state.generation == token.generation, state.activeKeyID == token.keyID else {
                return
            }
            state.mayReplace = false
            state.generation += 1
        }
    }

    func standbyTokens(for app: App) -> [BearerToken] {
        state.withLock { state in state.standbyKeyIDs.map { make($0, 1000) } }
    }

    func activate(_ standby: BearerToken, insteadOf refused: BearerToken, for app: App) -> Bool {
        state.withLock { state in
            guard state.activeKeyID == refused.keyID else { return false }
            state.activeKeyID = standby.keyID
            state.generation = standby.generation
            state.standbyKeyIDs.removeAll { $0 == standby.keyID }
            return true
        }
    }

    /// Somebody else puts a standby key in the active one's place.
    func takeOver(by keyID: String) {
        state.withLock { state in
            state.activeKeyID = keyID
            state.generation = 1000
            state.standbyKeyIDs.removeAll { $0 == keyID }
        }
    }

    private func make(_ keyID: String, _ generation: UInt64) -> BearerToken {
        let now = TestClock.date.addingTimeInterval(lead)
        return BearerToken(
            value: "\(keyID).\(generation)", keyID: keyID, generation: generation,
            issuedAt: now.addingTimeInterval(-30), expiresAt: now.addingTimeInterval(1200))
    }
}
