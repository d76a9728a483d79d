import AppStoreSimulator
import Daemon
import Foundation
import OpenSSL
import TestSupport
import Testing

/// `purser doctor` against the simulator: each thing that can be wrong is found and told apart.
struct DoctorTests {
    /// A configuration file with a key, in front of a simulator.
    private struct Clinic {
        /// Stands still, for the App Store and, unless it is wrong there, for the doctor.
        let now = Date()
        let simulator: Simulator
        let folder: URL
        let file: String

        init(keyID: String = "ABCDEFGHIJ", isReleased: Bool = true, bundleID: String = "com.example.coins") async throws
        {
            folder = FileManager.default.temporaryDirectory.appending(path: "purser-doctor-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let now = now
            simulator = try await Simulator.start(SimulatorConfiguration(now: { now }))
            let key = try ECPrivateKey.generate()
            let keyFile = folder.appending(path: "key.p8")
            try key.pkcs8PEM().withUnsafeBytes { Data($0) }.write(to: keyFile)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile.path)
            try simulator.state.registerKey(key.publicKey, keyID: "ABCDEFGHIJ", issuerID: Self.issuer)
            try simulator.state.register(
                RegisteredApp(
                    bundleID: "com.example.coins", appAppleID: 42, issuerID: Self.issuer,
                    isReleasedToProduction: isReleased))
            try Data(simulator.root.der).write(to: folder.appending(path: "root.der"))
            try Data(try simulator.tlsAuthority.pem().utf8).write(to: folder.appending(path: "tls-ca.pem"))
            file = folder.appending(path: "purser.yaml").path
            try """
            store: sqlite:\(folder.path)/purser.db
            apple:
              rootCertificates: ["\(folder.path)/root.der"]
              upstream:
                production: "\(simulator.baseURL(.production))"
                sandbox: "\(simulator.baseURL(.sandbox))"
              certificateAuthorityFile: "\(folder.path)/tls-ca.pem"
              connectTimeout: \(Wait.seconds)s
              attemptTimeout: \(Wait.seconds)s
              deadline: \(Wait.seconds)s
            keys:
              - id: \(keyID)
                issuer: \(Self.issuer)
                file: "\(keyFile.path)"
                apps: [coins]
            apps:
              coins: { bundleId: \(bundleID), appAppleId: 42 }
            """.write(toFile: file, atomically: true, encoding: .utf8)
        }

        static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

        /// `late`: by how much the doctor's clock is wrong, in seconds.
        func examine(notifications: Bool = false, late: TimeInterval = 0) async -> CommandOutcome {
            await DoctorCommand.run(
                file: file, environment: [:], app: nil, sendsTestNotifications: notifications,
                now: { now.addingTimeInterval(-late) })
        }

        func close() async throws {
            await simulator.stop()
            try FileManager.default.removeItem(at: folder)
        }
    }

    @Test func `a sound installation passes`() async throws {
        let clinic = try await Clinic()
        let outcome = await clinic.examine()
        #expect(outcome.status == .success, "\(outcome.output)\(outcome.errorOutput)")
        for environment in ["Production", "Sandbox"] {
            #expect(outcome.output.contains("ok       coins, \(environment): base URL"))
            #expect(outcome.output.contains("ok       coins, \(environment): clock"))
            #expect(
                outcome.output.contains("ok       coins, \(environment): token of key ABCDEFGHIJ (active): accepted"))
        }
        try await clinic.close()
    }

    @Test func `a key that Apple does not know fails in both environments`() async throws {
        let clinic = try await Clinic(keyID: "JIHGFEDCBA")
        let outcome = await clinic.examine()
        #expect(outcome.status == .failure)
        #expect(outcome.output.components(separatedBy: "FAILED   coins").count == 3)
        #expect(outcome.output.contains("compare key id, issuer id and bundle id `com.example.coins`"))
        try await clinic.close()
    }

    @Test func `a bundle id that Apple does not know fails, whatever the key`() async throws {
        let clinic = try await Clinic(bundleID: "com.example.Coins")
        let outcome = await clinic.examine()
        #expect(outcome.status == .failure, "\(outcome.output)")
        #expect(
            outcome.output.contains("FAILED   coins, Production: token of key ABCDEFGHIJ (active): Apple has no app"))
        #expect(outcome.output.contains("`com.example.Coins`") && outcome.output.contains("4040003"))
        try await clinic.close()
    }

    @Test func `an app that was never released is a warning, and no fault of the key`() async throws {
        let clinic = try await Clinic(isReleased: false)
        let outcome = await clinic.examine()
        #expect(outcome.status == .success, "\(outcome.output)")
        #expect(outcome.output.contains("WARNING  coins, Production: token"))
        #expect(outcome.output.contains("never released"))
        try await clinic.close()
    }

    @Test func `a clock that is wrong is named with its error`() async throws {
        let clinic = try await Clinic()
        let outcome = await clinic.examine(late: 300)
        #expect(outcome.output.contains("s behind Apple's"))
        #expect(outcome.output.contains("timedatectl"))
        #expect(outcome.status == .failure)
        try await clinic.close()
    }

    @Test func `a missing notification URL fails`() async throws {
        let clinic = try await Clinic()
        let outcome = await clinic.examine(notifications: true)
        #expect(outcome.status == .failure)
        #expect(outcome.output.contains("FAILED   coins, Sandbox: notification URL: no version 2 URL is configured"))
        try await clinic.close()
    }

    @Test func `a server that cannot be reached is told apart from a refused token`() async throws {
        let clinic = try await Clinic()
        await clinic.simulator.stop()
        let outcome = await clinic.examine()
        #expect(outcome.status == .failure)
        #expect(outcome.output.contains("FAILED   coins, Production: base URL"))
        #expect(!outcome.output.contains("token of key ABCDEFGHIJ (active): refused"))
        try FileManager.default.removeItem(at: clinic.folder)
    }

    @Test func `a key file that is no key, and an app without a key, are failures with advice`() async throws {
        let clinic = try await Clinic()
        let path = clinic.folder.appending(path: "key.p8").path
        try "nothing".write(toFile: path, atomically: false, encoding: .utf8)
        let outcome = await clinic.examine()
        #expect(outcome.status == .failure)
        #expect(outcome.output.contains("FAILED   coins: key ABCDEFGHIJ (active)"))
        #expect(outcome.output.contains(".p8"))
        try await clinic.close()
    }

    @Test func `an app that is not declared is named with those that are`() async throws {
        let clinic = try await Clinic()
        let outcome = await DoctorCommand.run(
            file: clinic.file, environment: [:], app: "gems", sendsTestNotifications: false)
        #expect(outcome.status == .configuration)
        #expect(outcome.errorOutput.contains("`gems`") && outcome.errorOutput.contains("coins"))
        try await clinic.close()
    }
}
