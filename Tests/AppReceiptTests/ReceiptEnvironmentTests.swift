import Testing

@testable import AppReceipt

struct ReceiptEnvironmentTests {
    @Test(arguments: [("Production", false), ("Sandbox", true), ("ProductionSandbox", true), ("Xcode", false)])
    func `the sandbox has two names`(name: String, isSandbox: Bool) throws {
        #expect(try #require(ReceiptEnvironment(rawValue: name)).isSandbox == isSandbox)
    }
}
