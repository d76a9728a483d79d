import Domain
import JSON
import KeyCustody

/// `purser config show`: every setting as it is in force, and where it was given; needs no running daemon.
///
/// Nothing of it is secret: the configuration holds names of files and digests, of which the digests are left out.
package enum ConfigShowCommand {
    /// Resolves a file under the environment of `purser serve`.
    ///
    /// - Returns: `success` with the settings, or `configuration` with every problem, one a line.
    package static func run(
        file: String, environment: [String: String], format: OperatorQuery.Format
    ) -> CommandOutcome {
        do {
            let document = try YAMLDocument(text: try DaemonConfiguration.contents(of: file), file: file)
            var parser = ConfigurationParser(
                document: document, file: file, flags: ConfigurationFlags(), environment: environment)
            let configuration = try parser.configuration()
            let rows = (parser.inForce + entries(of: configuration, in: file)).filter { $0.value != nil }
            return CommandOutcome(.success, output: text(rows, format))
        } catch {
            return CommandOutcome(.configuration, errorOutput: error.problems.map { "\($0)\n" }.joined())
        }
    }

    /// What has names of the operator's own, of which the file is the only source.
    private static func entries(of configuration: DaemonConfiguration, in file: String) -> [ResolvedSetting] {
        let file = ConfigurationOrigin.file(file)
        let apps = configuration.apps.map { app in
            let environments = app.environments.map(\.rawValue).sorted().joined(separator: ", ")
            return ResolvedSetting(key: "apps.\(app.slug)", value: "\(app.bundleID) (\(environments))", origin: file)
        }
        let keys = configuration.keys.map { key in
            ResolvedSetting(
                key: "keys[\(key.keyID)]", value: "\(key.state.rawValue), \(key.path)", origin: file)
        }
        let callers = configuration.callers.map { caller in
            let apps = caller.caller.scopes.keys.sorted().joined(separator: ", ")
            return ResolvedSetting(key: "callers.\(caller.caller.name)", value: "for \(apps)", origin: file)
        }
        return apps + keys + callers
    }

    private static func text(_ rows: [ResolvedSetting], _ format: OperatorQuery.Format) -> String {
        func source(_ row: ResolvedSetting) -> String { row.origin?.description ?? "default" }
        switch format {
        case .table:
            return TextTable.text(
                of: [["KEY", "VALUE", "FROM"]] + rows.map { [$0.key, $0.value ?? "", source($0)] })
        case .json:
            let members = rows.map { row in
                JSONValue.object(
                    JSONObject([
                        ("key", .string(row.key)), ("value", .string(row.value ?? "")), ("from", .string(source(row))),
                    ]))
            }
            return JSONValue.object(JSONObject([("settings", .array(members))])).serializedString(pretty: true) + "\n"
        }
    }
}
