import AppStoreAPI
import JSON
import Testing

struct ConsumptionRequestTests {
    @Test func `version 2 writes the required fields and leaves out what is nil`() {
        let request = ConsumptionRequest(
            customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false)
        #expect(
            String(decoding: request.serialized(), as: UTF8.self)
                == #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#)
    }

    @Test func `version 2 writes every field, those unknown to us in the order of their names`() {
        let request = ConsumptionRequest(
            customerConsented: true, deliveryStatus: .undeliveredOther, sampleContentProvided: true,
            consumptionPercentage: 0, refundPreference: .grantProrated,
            additional: ["zeta": 1, "alpha": ["x"], "mid": nil])
        #expect(
            String(decoding: request.serialized(), as: UTF8.self)
                == #"{"customerConsented":true,"deliveryStatus":"UNDELIVERED_OTHER","sampleContentProvided":true,"#
                + #""consumptionPercentage":0,"refundPreference":"GRANT_PRORATED","alpha":["x"],"mid":null,"zeta":1}"#)
    }

    @Test func `equal requests give equal bytes`() {
        let names = (0..<40).map { "field\($0)" }
        func request(_ names: [String]) -> ConsumptionRequest {
            var request = ConsumptionRequest(
                customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: true)
            for name in names { request.additional[UntrustedText(name)] = .string(name) }
            return request
        }
        #expect(request(names).serialized() == request(names.reversed()).serialized())
    }

    @Test func `version 1 writes integers and the empty token`() {
        let request = ConsumptionRequestV1(
            accountTenure: 1, appAccountToken: "", consumptionStatus: 2, customerConsented: true, deliveryStatus: 3,
            lifetimeDollarsPurchased: 4, lifetimeDollarsRefunded: 5, platform: 1, playTime: 6, refundPreference: 2,
            sampleContentProvided: false, userStatus: 1)
        #expect(
            String(decoding: request.serialized(), as: UTF8.self)
                == #"{"accountTenure":1,"appAccountToken":"","consumptionStatus":2,"customerConsented":true,"#
                + #""deliveryStatus":3,"lifetimeDollarsPurchased":4,"lifetimeDollarsRefunded":5,"platform":1,"#
                + #""playTime":6,"refundPreference":2,"sampleContentProvided":false,"userStatus":1}"#)
    }
}
