import Daemon
import Domain
import KeyCustody
import Testing

struct ConfigurationKeysTests {
    private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

    /// The keys begin on line 7.
    private func yaml(_ keys: String) -> String {
        """
        store: sqlite:/a
        apple: { rootCertificates: [/a.cer] }
        apps:
          coins: { bundleId: a.coins, environments: [Sandbox] }
          gems: { bundleId: a.gems, environments: [Sandbox] }
        keys:

        """ + keys
    }

    private func key(_ id: String, _ rest: String) -> String { "  - { id: \(id), issuer: \(Self.issuer), \(rest) }\n" }

    @Test func keysComeFromFilesAndFromCredentials() throws {
        let text = yaml(
            key("2X9R4HXF34", "file: /etc/purser/coins.p8, apps: [coins, gems], allowGroupReadable: true")
                + key("B2", "credential: coins.p8, state: standby, apps: [coins]"))
        let keys = try ConfigurationFixture.configuration(
            text, environment: ["CREDENTIALS_DIRECTORY": "/run/credentials/other.service"]
        ).keys
        #expect(
            keys == [
                KeyDeclaration(
                    keyID: "2X9R4HXF34", issuerID: Self.issuer, path: "/etc/purser/coins.p8",
                    source: .file(allowsGroupRead: true), state: .active, apps: ["coins", "gems"]),
                KeyDeclaration(
                    keyID: "B2", issuerID: Self.issuer, path: "/run/credentials/other.service/coins.p8",
                    source: .credential, state: .standby, apps: ["coins"]),
            ])
        #expect(
            try ConfigurationFixture.configuration(text).keys.last?.path == "/run/credentials/purser.service/coins.p8")
    }

    @Test(arguments: [
        "-----BEGIN PRIVATE KEY-----", String(repeating: "mIGH/a+0", count: 8), String(repeating: "0aF9", count: 16),
        "prs_short",
    ])
    func `a secret in the place of its file's name is not repeated`(secret: String) {
        for setting in ["file", "credential"] {
            let problems = ConfigurationFixture.problems(yaml(key("A1", "\(setting): \"\(secret)\", apps: [coins]")))
            #expect(setting == "credential" || !problems.isEmpty)
            for problem in problems { #expect(!problem.description.contains(secret.prefix(8))) }
        }
        let told = ConfigurationFixture.problems(yaml(key("A1", "file: keys/coins.p8, apps: [coins]")))
        #expect(told.first?.message.contains("`keys/coins.p8`") == true, "what is no secret is")
    }

    @Test func anAppHasAtMostOneActiveKey() {
        let text = yaml(
            key("A1", "file: /a.p8, apps: [coins]") + key("A2", "file: /b.p8, apps: [gems, coins]")
                + key("A3", "file: /c.p8, apps: [coins], state: standby"))
        #expect(ConfigurationFixture.places(text) == ["8 keys[1].apps[1]"])
        #expect(ConfigurationFixture.problems(text).first?.message.contains("`A1`") == true)
    }

    @Test func keyIDsAreUnique() {
        let text = yaml(
            key("A1", "file: /a.p8, apps: [coins]") + key("A1", "file: /b.p8, apps: [coins], state: retired"))
        let problems = ConfigurationFixture.problems(text)
        #expect(
            problems.map(\.description) == ["purser.yaml:8:11: keys[1].id: This key id is already given on line 7."])
    }

    @Test func aKeyNamesAppsThatExist() {
        let text = yaml(
            key("A1", "file: /a.p8, apps: [coin]") + key("A2", "file: /b.p8, apps: []") + key("A3", "file: /c.p8"))
        let problems = ConfigurationFixture.problems(text)
        #expect(problems.map(\.key) == ["keys[0].apps[0]", "keys[1].apps", "keys[2].apps"])
        #expect(problems.map(\.origin.line) == [7, 8, 9])
        #expect(problems.first?.message == "No app is named `coin`. Did you mean `coins`?")
    }

    @Test func aKeyHasExactlyOneSource() {
        let text = yaml(
            key("A1", "apps: [coins]") + key("A2", "file: /a.p8, credential: a.p8, apps: [gems]")
                + key("A3", "credential: a.p8, allowGroupReadable: true, apps: [gems], state: standby"))
        #expect(ConfigurationFixture.places(text) == ["7 keys[0]", "8 keys[1]", "9 keys[2].allowGroupReadable"])
    }

    @Test(arguments: [
        ("id", "A-1"), ("id", String(repeating: "A", count: 65)), ("issuer", "me"), ("state", "asleep"),
        ("file", "a.p8"), ("credential", "../a.p8"), ("credential", ".."), ("allowGroupReadable", "perhaps"),
    ])
    func badValuesAreReported(name: String, value: String) {
        var fields = ["id": "A1", "issuer": Self.issuer, "file": "/a.p8", "apps": "[coins]"]
        if name == "credential" { fields["file"] = nil }
        fields[name] = "\"\(value)\""
        let text = yaml("  - { \(fields.map { "\($0): \($1)" }.sorted().joined(separator: ", ")) }\n")
        #expect(ConfigurationFixture.places(text) == ["7 keys[0].\(name)"])
    }

    @Test(arguments: ["A", "2X9R4HXF34", "lowercase1", String(repeating: "Z", count: 64)])
    func keyIDsAreNotHeldToTodaysLength(id: String) {
        #expect(ConfigurationFixture.places(yaml(key(id, "file: /a.p8, apps: [coins]"))) == [])
    }

    @Test(arguments: KeyStatus.State.allCases)
    func onlyAnActiveKeyServesItsApps(state: KeyStatus.State) throws {
        let text = yaml(key("A1", "file: /a.p8, apps: [coins, gems], state: \(state.rawValue)"))
        let warned = try ConfigurationFixture.configuration(text).warnings.map(\.key)
        #expect(warned == (state == .active ? [] : ["apps.coins", "apps.gems"]))
    }
}
