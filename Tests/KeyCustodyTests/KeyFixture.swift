import Domain
import Foundation
import KeyCustody
import OpenSSL
import Synchronization

/// A folder with throw-away keys of a test's own.
final class KeyFixture: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "purser-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Writes a fresh key and declares it.
    func key(
        _ keyID: String = "KEY1", mode: Int = 0o600, source: KeyDeclaration.Source = .file(allowsGroupRead: false),
        state: KeyStatus.State = .active, apps: [String] = ["coins"]
    ) throws -> (declaration: KeyDeclaration, publicKey: ECPublicKey) {
        let key = try ECPrivateKey.generate()
        let text = try key.pkcs8PEM().withUnsafeBytes { Data($0) }
        return (try file(keyID, text, mode: mode, source: source, state: state, apps: apps), key.publicKey)
    }

    /// Writes any text as a key file and declares it.
    func file(
        _ keyID: String, _ text: Data, mode: Int = 0o600, source: KeyDeclaration.Source = .file(allowsGroupRead: false),
        state: KeyStatus.State = .active, apps: [String] = ["coins"]
    ) throws -> KeyDeclaration {
        let path = folder.appending(path: "\(keyID).p8").path
        try text.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return KeyDeclaration(
            keyID: keyID, issuerID: "issuer-1", path: path, source: source, state: state, apps: apps)
    }
}

/// Two clocks that move only when a test moves them.
final class HandClock: Sendable {
    private struct State {
        var date = Date(timeIntervalSince1970: 1_700_000_000)
        var instant = ContinuousClock.now
    }

    private let state = Mutex(State())

    var date: Date { state.withLock(\.date) }
    var instant: ContinuousClock.Instant { state.withLock(\.instant) }

    /// Moves both, as time does.
    func advance(_ seconds: TimeInterval) {
        state.withLock { state in
            state.date.addTimeInterval(seconds)
            state.instant += .seconds(seconds)
        }
    }

    /// Moves the time of day alone, as an operator or NTP does.
    func adjust(_ seconds: TimeInterval) {
        state.withLock { $0.date.addTimeInterval(seconds) }
    }
}
