import Testing

@testable import AppReceipt

struct ReceiptEnvironmentTests {
    @Test(arguments: [
        ("Production", true, false), ("ProductionVPP", true, false), ("Sandbox", false, true),
        ("ProductionSandbox", false, true), ("ProductionVPPSandbox", false, true), ("Xcode", false, false),
        ("Elsewhere", false, false),
    ])
    func `the sandbox has several names, and unknown ones are kept`(
        name: String, isProduction: Bool, isSandbox: Bool
    ) {
        let environment = ReceiptEnvironment(name: name)
        #expect(environment.name == name)
        #expect(environment.isProduction == isProduction)
        #expect(environment.isSandbox == isSandbox)
        #expect((environment == .other(name)) == (name == "Elsewhere"))
    }
}
