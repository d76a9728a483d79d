import Daemon
import Testing

struct ConfigurationAppleTests {
    private func yaml(_ apple: String) -> String {
        "store: sqlite:/a\napple:\n  rootCertificates: [/a.cer]\n" + apple
    }

    @Test func withoutAnUpstreamAppleItselfIsCalled() throws {
        let apple = try ConfigurationFixture.configuration(yaml("")).apple
        #expect(apple == AppleConfiguration(rootCertificateFiles: ["/a.cer"]))
        #expect(!apple.usesCustomUpstream)
        #expect(apple.connectTimeout == .seconds(5))
        #expect(apple.attemptTimeout == .seconds(15))
        #expect(apple.deadline == .seconds(25))
        #expect(apple.maximumResponseBytes == 8_388_608)
    }

    @Test func anUpstreamNamesBothServers() throws {
        let both = yaml("  upstream: { production: \"https://localhost:1/\", sandbox: \"https://localhost:2\" }\n")
        let apple = try ConfigurationFixture.configuration(both).apple
        #expect(apple.upstream == CustomUpstream(production: "https://localhost:1", sandbox: "https://localhost:2"))
        #expect(apple.usesCustomUpstream)
        let production = yaml("  upstream:\n    production: \"https://localhost:1\"\n")
        #expect(ConfigurationFixture.places(production) == ["5 apple.upstream.sandbox"])
        let sandbox = yaml("  upstream:\n    sandbox: \"https://localhost:1\"\n")
        #expect(ConfigurationFixture.places(sandbox) == ["5 apple.upstream.production"])
    }

    @Test(arguments: [
        "http://localhost:1", "https://", "https://a:b@localhost", "https://localhost/?a=b", "localhost:1",
    ])
    func anUpstreamIsAnHTTPSURL(url: String) {
        let text = yaml("  upstream:\n    production: \"\(url)\"\n    sandbox: \"https://localhost:2\"\n")
        #expect(ConfigurationFixture.places(text) == ["5 apple.upstream.production"])
    }

    @Test func aPasswordInTheProxyIsNeverRepeated() {
        let problems = ConfigurationFixture.problems(yaml("  proxy: \"ftp://user:hunter2@proxy:1\"\n"))
        #expect(problems.map(\.key) == ["apple.proxy"])
        #expect(problems.allSatisfy { !$0.description.contains("hunter2") })
    }

    @Test func rootCertificatesAreAbsolutePathsGivenOnce() {
        let text = "store: sqlite:/a\napple:\n  rootCertificates:\n    - a.cer\n    - /b.cer\n    - /b.cer\n"
        #expect(ConfigurationFixture.places(text) == ["4 apple.rootCertificates[0]", "6 apple.rootCertificates[2]"])
        #expect(
            ConfigurationFixture.places("store: sqlite:/a\napple: { rootCertificates: [] }\n") == [
                "2 apple.rootCertificates"
            ])
        #expect(ConfigurationFixture.places("store: sqlite:/a\n") == ["- apple.rootCertificates"])
    }

    @Test func timeoutsFitIntoEachOther() {
        #expect(ConfigurationFixture.places(yaml("  attemptTimeout: 30s\n")) == ["4 apple.attemptTimeout"])
        #expect(ConfigurationFixture.places(yaml("  deadline: 10s\n")) == ["4 apple.deadline"])
        #expect(
            ConfigurationFixture.places(yaml("  deadline: 1m\n  connectTimeout: 20s\n")) == ["5 apple.connectTimeout"])
        #expect(ConfigurationFixture.places(yaml("  deadline: 99ms\n")) == ["4 apple.deadline"])
    }

    @Test func otherFilesAreAbsolutePaths() {
        #expect(
            ConfigurationFixture.places(yaml("  certificateAuthorityFile: ca.pem\n")) == [
                "4 apple.certificateAuthorityFile"
            ])
    }
}
