import Testing

@testable import purser_bench

/// The daemons that are measured.
struct ConfigurationTests {
    @Test(arguments: [StoreSize.small, .large])
    func `the ten apps that are asked about lie as far apart as they can`(size: StoreSize) {
        let configuration = size.configuration
        let apps = (0..<PurserConfiguration.measuredApps).map(configuration.measuredApp)
        #expect(Set(apps).count == 10)
        #expect(apps.last == "a\(size.apps / 10 * 9)")
    }
}
