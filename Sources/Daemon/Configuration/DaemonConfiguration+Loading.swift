import Foundation

extension DaemonConfiguration {
    /// The largest configuration file read, in bytes.
    package static let maximumFileBytes = 1024 * 1024

    /// Reads the configuration file and resolves flags over environment over file over defaults.
    ///
    /// - Parameters:
    ///   - file: the path of the YAML file.
    ///   - flags: what the command line overrides.
    ///   - environment: the environment of the process: the `PURSER_` variables, and `CREDENTIALS_DIRECTORY`.
    /// - Returns: the configuration, valid as a whole; the files that it names were not opened.
    /// - Throws: `ConfigurationError` with every problem there is.
    package static func load(
        file: String, flags: ConfigurationFlags = ConfigurationFlags(), environment: [String: String]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        try parse(yaml: try contents(of: file), file: file, flags: flags, environment: environment)
    }

    /// Resolves the configuration from the text of its file.
    ///
    /// - Parameters:
    ///   - yaml: the text of the file.
    ///   - file: what to call the file in problems.
    ///   - flags: what the command line overrides.
    ///   - environment: the environment of the process.
    /// - Returns: the configuration, valid as a whole.
    /// - Throws: `ConfigurationError` with every problem there is.
    package static func parse(
        yaml: String, file: String, flags: ConfigurationFlags = ConfigurationFlags(),
        environment: [String: String] = [:]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        let document = try YAMLDocument(text: yaml, file: file)
        var parser = ConfigurationParser(document: document, file: file, flags: flags, environment: environment)
        return try parser.configuration()
    }

    /// The text of a configuration file.
    ///
    /// - Throws: `ConfigurationError` with the reason why it cannot be read.
    static func contents(of file: String) throws(ConfigurationError) -> String {
        func refusal(_ reason: String) -> ConfigurationError {
            ConfigurationError(problems: [ConfigurationProblem(.file(file), "The file cannot be read: \(reason).")])
        }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(String(cString: strerror(errno))) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let data: Data?
        do {
            data = try handle.read(upToCount: maximumFileBytes + 1)
        } catch {
            throw refusal("reading it failed; is it a regular file?")
        }
        guard let data else { return "" }
        guard data.count <= maximumFileBytes else { throw refusal("it has more than \(maximumFileBytes) bytes") }
        guard let text = String(validating: data, as: UTF8.self) else { throw refusal("it is no UTF-8 text") }
        return text
    }
}
