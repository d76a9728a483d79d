import Configuration
import Domain
import Synchronization

/// The single values, resolved in the order flags, environment, file.
struct ConfigurationSettings {
    /// Every variable that configures Purser begins with this.
    static let variablePrefix = "PURSER_"
    /// Tables whose entries have names of the operator's own; no setting is in them, and there may be thousands.
    private static let tablesOfNames: Set<String> = ["apps", "callers"]

    private let reader: ConfigReader
    private let recorder = OriginRecorder()
    private let variables: EnvironmentVariablesProvider
    private let root: ConfigurationElement

    /// Takes the process's environment as it is: only variables that begin with `PURSER_` are looked at.
    init(root: ConfigurationElement, flags: ConfigurationFlags, environment: [String: String]) {
        self.root = root
        let flagTexts = [(["store"], flags.store), (["log", "level"], flags.logLevel)]
        let flagValues = flagTexts.compactMap { path, text in text.map { (AbsoluteConfigKey(path), Self.value($0)) } }
        let fileValues = root.texts(besides: Self.tablesOfNames).map {
            (AbsoluteConfigKey($0.path), Self.value($0.text))
        }
        let ours = environment.filter { $0.key.hasPrefix(Self.variablePrefix) }
        variables = EnvironmentVariablesProvider(environmentVariables: ours)
        let overrides: any ConfigProvider =
            // Spelling the name of a variable takes long, and is for nothing where none is set.
            ours.isEmpty
            ? InMemoryProvider(name: "environment", values: [:])
            : KeyMappingProvider(upstream: variables, keyMapper: Self.variableKey)
        reader = ConfigReader(
            providers: [
                InMemoryProvider(name: "flags", values: Dictionary(flagValues) { first, _ in first }),
                overrides,
                InMemoryProvider(name: "file", values: Dictionary(fileValues) { first, _ in first }),
            ],
            accessReporter: recorder)
    }

    /// The text of a setting and where it was given, if it was.
    func text(at path: [String]) -> (text: String, origin: ConfigurationOrigin)? {
        guard let text = reader.string(forKey: ConfigKey(path), isSecret: true) else { return nil }
        switch recorder.provider {
        case 0: return (text, .flag(Self.flag(at: path)))
        case 1: return (text, .environment(variable(at: path)))
        default: return root.element(at: path).map { (text, $0.origin) }
        }
    }

    /// The name of the variable that overrides a setting.
    func variable(at path: [String]) -> String {
        // Asking the provider, not spelling the name here, keeps the two from drifting apart.
        let result = try? variables.value(forKey: Self.variableKey(AbsoluteConfigKey(path)), type: .string)
        return result?.encodedKey ?? ""
    }

    /// The name of the flag that overrides a setting.
    private static func flag(at path: [String]) -> String { "--" + path.joined(separator: "-") }

    private static func variableKey(_ key: AbsoluteConfigKey) -> AbsoluteConfigKey {
        AbsoluteConfigKey(["purser"] + key.components)
    }

    private static func value(_ text: String) -> ConfigValue { ConfigValue(.string(text), isSecret: true) }
}

/// A setting as it is in force, for people.
struct ResolvedSetting {
    /// The path of the key, such as `listeners.api.address`.
    let key: String
    /// As the configuration writes it; nil where nothing is in force.
    var value: String?
    /// Where it was given; nil for a default.
    let origin: ConfigurationOrigin?

    /// How the configuration would write a default that has no bounds.
    static func text(of value: Any) -> String {
        if let duration = value as? Duration { return DurationText.text(duration) }
        if let choice = value as? ListenerChoice {
            return if case .at(let address) = choice { "\(address)" } else { "none" }
        }
        return "\(value)"
    }
}

/// Remembers which provider gave the value last read, by its place in the reader's list.
///
/// The reader calls it before it returns, so on the reading thread what it holds is always the last read.
private final class OriginRecorder: AccessReporter {
    private let last = Mutex<Int?>(nil)

    var provider: Int? { last.withLock { $0 } }

    func report(_ event: AccessEvent) {
        let provider = event.providerResults.firstIndex { (try? $0.result.get().value) != nil }
        last.withLock { $0 = provider }
    }
}
