import Foundation
import KeyCustody
import Listener
import OpenSSL
import Systemd

/// Opens every file that a configuration names, and tells where the configuration names what is wrong.
struct ConfigurationFiles {
    private let file: String
    private let places: ConfigurationElement
    private let environment: [String: String]
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []

    /// Reads a configuration file, and opens what it names; it blocks.
    ///
    /// - Throws: `ConfigurationError` with every problem of the file itself.
    static func load(
        file: String, flags: ConfigurationFlags = ConfigurationFlags(), environment: [String: String]
    ) throws(ConfigurationError) -> (DaemonConfiguration, files: ConfigurationFiles) {
        let configuration = try DaemonConfiguration.load(file: file, flags: flags, environment: environment)
        // Whoever replaces the file meanwhile gets lines of the new one told.
        let places = try YAMLDocument(text: try DaemonConfiguration.contents(of: file), file: file).root
        var files = ConfigurationFiles(file: file, places: places, environment: environment)
        files.check(configuration)
        return (configuration, files)
    }

    private init(file: String, places: ConfigurationElement, environment: [String: String]) {
        self.file = file
        self.places = places
        self.environment = environment
    }

    private mutating func check(_ configuration: DaemonConfiguration) {
        for (index, path) in configuration.apple.rootCertificateFiles.enumerated() {
            attempt("apple.rootCertificates[\(index)]") { _ = try Files.certificate(path) }
        }
        if let path = configuration.apple.certificateAuthorityFile {
            attempt("apple.certificateAuthorityFile") { try Files.checkAuthorities(path) }
        }
        for (name, listener) in configuration.listeners.all {
            guard let tls = listener.tls else { continue }
            do throws(ListenerError.Reason) {
                try tls.check()
            } catch {
                let error = ListenerError(listener: name, address: listener.address, reason: error)
                let key =
                    if case .authoritiesUnusable = error.reason { "clientCertificateAuthorities" } else {
                        "certificateChain"
                    }
                attempt("listeners.\(name).tls.\(key)") { throw error }
            }
        }
        checkMasterKey(configuration.masterKey, configuration.secretFiles)
        checkSealedContents(configuration)
        checkStorePassword(configuration.store)
        checkKeyDirectories(configuration)
        for (index, key) in configuration.keys.enumerated() {
            if key.source == .credential, environment["CREDENTIALS_DIRECTORY"] == nil,
                !FileManager.default.fileExists(atPath: key.path)
            {
                warnOfCredential("keys[\(index)].credential")
                continue
            }
            attempt("keys[\(index)]\(key.source == .credential ? ".credential" : ".file")") {
                _ = try KeyFile.load(key)
            }
        }
    }

    /// What is wrong with a directory of keys stops no start, and may be mended while the daemon runs.
    private mutating func checkKeyDirectories(_ configuration: DaemonConfiguration) {
        for (index, directory) in configuration.keyDirectories.enumerated() {
            let key = "keyDirectories[\(index)].path"
            let problems = KeyDirectory.problems(of: [directory], declared: configuration.keys.map(\.keyID))
            for problem in problems { warnings.append(ConfigurationProblem(origin(key), key: key, problem)) }
        }
    }

    /// The daemon makes its own key where there is none; a check makes nothing.
    private mutating func checkMasterKey(_ source: MasterKeySource, _ owners: SecretFileOwners) {
        func load() throws(SecretFileError) {
            try source.check(owners: owners)
            _ = try source.load()
        }
        let isThere = FileManager.default.fileExists(atPath: source.path)
        switch source {
        case .credential where environment["CREDENTIALS_DIRECTORY"] == nil && !isThere:
            warnOfCredential("masterKey.credential")
        case .made where !isThere: break
        case .credential: attempt("masterKey.credential", load)
        case .file: attempt("masterKey.file", load)
        case .made: attempt("store", load)
        }
    }

    /// A master key that does not open all of what is sealed stops the start.
    private mutating func checkSealedContents(_ configuration: DaemonConfiguration) {
        if let problem = SealedContents.problem(of: configuration) { problems.append(problem) }
    }

    /// The password is read at each connection; a check connects nowhere.
    private mutating func checkStorePassword(_ store: StoreLocation) {
        guard let path = store.passwordFile else { return }
        let isThere = FileManager.default.isReadableFile(atPath: path) && FileStatus(path: path)?.isRegular == true
        let isCredential = places.element(withKey: "storePassword.credential") != nil
        if isCredential, environment["CREDENTIALS_DIRECTORY"] == nil, !isThere {
            warnOfCredential("storePassword.credential")
        } else if !isThere {
            let key = isCredential ? "storePassword.credential" : "storePassword.file"
            problems.append(ConfigurationProblem(origin(key), key: key, "\(path) cannot be read."))
        }
    }

    private mutating func warnOfCredential(_ key: String) {
        warnings.append(
            ConfigurationProblem(
                origin(key), key: key, "A credential exists only while systemd runs the unit; it was not checked."))
    }

    private mutating func attempt(_ key: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            problems.append(ConfigurationProblem(origin(key), key: key, "\(error)"))
        }
    }

    private func origin(_ key: String) -> ConfigurationOrigin { places.element(withKey: key)?.origin ?? .file(file) }
}
