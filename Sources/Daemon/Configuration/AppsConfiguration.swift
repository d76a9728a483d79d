import Domain

/// An app of the file: its name even where its description is wrong, so that keys and callers can be held against it.
struct AppEntry {
    let slug: String
    let origin: ConfigurationOrigin
    /// `nil` when a problem was reported.
    let app: App?
    /// How refund cases of this app are answered that nobody answers; nil when they are not.
    let refundPolicy: RefundPolicy?
}

/// The apps of the file.
struct AppEntries {
    /// In the order of the file.
    let all: [AppEntry]
    let slugs: Set<String>

    init(_ all: [AppEntry]) {
        self.all = all
        slugs = Set(all.map(\.slug))
    }
}

extension ConfigurationParser {
    /// Reads `apps`.
    mutating func appsSection() -> AppEntries {
        let entries = entries("apps", of: root, named: .slug).map { member in
            AppEntry(
                slug: member.name, origin: member.origin, app: app(member),
                refundPolicy: refundPolicy(of: member.value))
        }
        if entries.isEmpty {
            warn(
                place(of: ["apps"]), key: "apps", "No app is configured; every call about an app is answered with 404.")
        }
        checkBundleIDsDiffer(entries)
        return AppEntries(entries)
    }

    private mutating func app(_ member: ConfigurationElement.Member) -> App? {
        guard isTable(member.value) else { return nil }
        let bundleID = requiredValue("bundleId", of: member.value, as: .bundleID)
        let appAppleID = value("appAppleId", of: member.value, as: .appAppleID)
        let fields = values("additionalConsumptionFields", of: member.value, as: .fieldName).map(\.value)
        var environments = Set(AppStoreEnvironment.allCases)
        if let element = self.member("environments", of: member.value) {
            environments = Set(values("environments", of: member.value, as: .oneOf).map(\.value))
            if case .list(let elements) = element.content, elements.isEmpty {
                report(element.origin, key: element.key, "The list must name at least one environment.")
            }
        }
        let appleIDElement = self.member("appAppleId", of: member.value)
        if environments.contains(.production), appleIDElement == nil {
            report(
                member.origin, key: member.value.key(of: "appAppleId"),
                "This key is required for an app in Production; App Store Connect shows it as \"Apple ID\".")
        }
        let userIDs = value("userIDs", of: member.value, as: .oneOf) ?? App.UserIDs.opaque
        let ignoredTokens = self.ignoredTokens(of: member.value)
        let guardianBlocks = value("guardianBlocksConsumption", of: member.value, as: .bool) ?? true
        let minimumWording = value("minimumWordingVersion", of: member.value, as: .wordingVersion)
        let appFamilyID = value("appFamilyId", of: member.value, as: .appFamilyID)
        guard let bundleID else { return nil }
        return App(
            slug: member.name, bundleID: bundleID, appAppleID: appAppleID, environments: environments,
            additionalConsumptionFields: Set(fields), userIDs: userIDs, ignoredTokens: ignoredTokens,
            guardianBlocksConsumption: guardianBlocks, minimumWordingVersion: minimumWording,
            appFamilyID: appFamilyID)
    }

    private mutating func ignoredTokens(of app: ConfigurationElement) -> Set<String> {
        let tokens = values("ignoredTokens", of: app, as: .appAccountToken).map(\.value)
        let maximum = ConfigurationDefaults.Apps.maximumIgnoredTokens
        if tokens.count > maximum, let element = member("ignoredTokens", of: app) {
            report(element.origin, key: element.key, "The list may have at most \(maximum) entries.")
        }
        return Set(tokens)
    }

    private mutating func checkBundleIDsDiffer(_ entries: [AppEntry]) {
        var owners: [String: String] = [:]
        for entry in entries {
            guard let app = entry.app else { continue }
            guard let owner = owners[app.bundleID] else {
                owners[app.bundleID] = entry.slug
                continue
            }
            guard let element = root.element(at: ["apps", entry.slug, "bundleId"]) else { continue }
            report(element.origin, key: element.key, "The app `\(QuotableText.name(owner))` has the same bundle id.")
        }
    }
}
