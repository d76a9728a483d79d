import Domain
import KeyCustody

extension ConfigurationParser {
    /// Reads `keys`, and holds them against the apps.
    ///
    /// `directories`: where keys come from, too; `owners`: who may own key files.
    mutating func keysSection(
        apps: AppEntries, directories: [KeyDirectory], owners: SecretFileOwners
    ) -> [KeyDeclaration] {
        var keys: [KeyDeclaration] = []
        var idLines: [String: ConfigurationOrigin] = [:]
        var activeKeys: [String: String] = [:]
        for element in elements("keys", of: root) where isTable(element) {
            let id = requiredValue("id", of: element, as: .keyID)
            if let id, let place = member("id", of: element)?.origin {
                if let earlier = idLines[id] {
                    report(place, key: element.key(of: "id"), "This key id is already given\(Self.line(earlier)).")
                }
                idLines[id] = idLines[id] ?? place
            }
            let issuer = requiredValue("issuer", of: element, as: .issuerID)
            let file = keyFile(element)
            let state = value("state", of: element, as: ConfigurationValue<KeyStatus.State>.oneOf) ?? .active
            let served = appsOfKey(element, apps: apps)
            if state == .active {
                for app in served {
                    if let other = activeKeys[app.value] {
                        report(
                            app.element.origin, key: app.element.key,
                            """
                            The app `\(app.value)` has an active key already: `\(QuotableText.name(other))`; make one of \
                            them `standby`.
                            """)
                    }
                    activeKeys[app.value] = activeKeys[app.value] ?? id ?? element.key
                }
            }
            guard let id, let issuer, let file else { continue }
            keys.append(
                KeyDeclaration(
                    keyID: id, issuerID: issuer, path: file.path, source: file.source, state: state,
                    apps: served.map(\.value), owners: owners))
        }
        let fromDirectories = Set(directories.flatMap(\.apps))
        for app in apps.all where activeKeys[app.slug] == nil && !fromDirectories.contains(app.slug) {
            warn(
                app.origin, key: "apps.\(app.slug)",
                "This app has no active key here; unless one was imported, every call to Apple about it fails with `key-unavailable`."
            )
        }
        return keys
    }

    private mutating func keyFile(
        _ element: ConfigurationElement
    ) -> (path: String, source: KeyDeclaration.Source)? {
        let count = problems.count
        let path = value("file", of: element, as: .absolutePath)
        let credential = value("credential", of: element, as: .credentialName)
        let groupReadable = value("allowGroupReadable", of: element, as: .bool)
        switch (path, credential) {
        case (let path?, nil):
            return (path, .file(allowsGroupRead: groupReadable ?? false))
        case (nil, let name?):
            if groupReadable != nil {
                report(
                    element.origin, key: element.key(of: "allowGroupReadable"),
                    "This is for `file` only; systemd itself sets the permissions of a credential.")
            }
            return ("\(credentialsDirectory)/\(name)", .credential)
        case (nil, nil):
            guard problems.count == count else { return nil }
            report(
                element.origin, key: element.key,
                "The key needs either `file`, the path of its `.p8`, or `credential`, the name of a systemd credential."
            )
            return nil
        case (_?, _?):
            report(element.origin, key: element.key, "The key has both `file` and `credential`; keep one.")
            return nil
        }
    }

    private mutating func appsOfKey(
        _ element: ConfigurationElement, apps: AppEntries
    ) -> [(value: String, element: ConfigurationElement)] {
        guard let list = member("apps", of: element) else {
            report(
                element.origin, key: element.key(of: "apps"),
                "This key is required; it must be the list of the apps that the key signs for.")
            return []
        }
        let named = values("apps", of: element, as: .slug)
        if case .list(let elements) = list.content, elements.isEmpty {
            report(list.origin, key: list.key, "The list must name at least one app.")
        }
        return named.filter { isKnown($0.value, at: $0.element.origin, key: $0.element.key, apps: apps) }
    }

    /// Whether an app exists; a problem is reported where it does not.
    mutating func isKnown(_ slug: String, at origin: ConfigurationOrigin, key: String, apps: AppEntries) -> Bool {
        guard !apps.slugs.contains(slug) else { return true }
        let hint = apps.all.isEmpty ? "`apps` is empty." : Suggestion.text(for: slug, among: apps.all.map(\.slug))
        report(origin, key: key, "No app is named `\(QuotableText.name(slug))`. \(hint)")
        return false
    }

    /// A few words on where something else stands.
    static func line(_ origin: ConfigurationOrigin) -> String { origin.line.map { " on line \($0)" } ?? "" }
}

// What keys come from besides, and what is said about all of them.
extension ConfigurationParser {
    /// Reads `keyDirectories`.
    mutating func keyDirectoriesSection(apps: AppEntries, owners: SecretFileOwners) -> [KeyDirectory] {
        var directories: [KeyDirectory] = []
        for element in elements("keyDirectories", of: root) where isTable(element) {
            let path = requiredValue("path", of: element, as: .absolutePath)
            let issuer = requiredValue("issuer", of: element, as: .issuerID)
            let allowsGroupRead = value("allowGroupReadable", of: element, as: .bool) ?? false
            let served = appsOfKey(element, apps: apps)
            guard let path, let issuer else { continue }
            if directories.contains(where: { $0.path == path }) {
                report(element.origin, key: element.key(of: "path"), "This directory is already given.")
            }
            directories.append(
                KeyDirectory(
                    path: path, issuerID: issuer, apps: served.map(\.value), allowsGroupRead: allowsGroupRead,
                    owners: owners))
        }
        return directories
    }

    /// Reads `keyWarnings`.
    mutating func keyWarningsSection() -> KeyWarningPolicy {
        typealias Defaults = ConfigurationDefaults.KeyWarnings
        func setting(_ name: String, _ bounded: BoundedSetting<Duration>) -> Duration? {
            self.setting(
                ["keyWarnings", name], as: .durationOrOff(bounded.range), default: .some(bounded.default))
        }
        return KeyWarningPolicy(
            maximumAge: setting("maximumAge", Defaults.maximumAge), unusedFor: setting("unusedFor", Defaults.unusedFor))
    }
}
