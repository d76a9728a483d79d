import CoreMetrics
import Metrics
import Testing

@testable import Daemon

struct MetricsTextTests {
    @Test func `metrics are sorted by name and come with their type and meaning`() {
        let registry = PrometheusRegistry(help: ["b": "Second.", "a": "First."], process: .none)
        Gauge(label: "b", dimensions: [("x", "2")], factory: registry).record(1)
        Gauge(label: "b", dimensions: [("x", "1")], factory: registry).record(1.5)
        Counter(label: "c", factory: registry).increment()
        Counter(label: "a", factory: registry).increment()
        #expect(
            registry.render() == """
                # HELP a_total First.
                # TYPE a_total counter
                a_total 1
                # HELP b Second.
                # TYPE b gauge
                b{x="1"} 1.5
                b{x="2"} 1
                # TYPE c_total counter
                c_total 1

                """)
    }

    @Test func `values and meanings cannot break out of their line`() {
        let registry = PrometheusRegistry(help: ["a": "one\\two\nthree \"four\""], process: .none)
        Gauge(label: "a", dimensions: [("x", "\"}\n\\ é")], factory: registry).record(1)
        #expect(
            registry.render() == #"""
                # HELP a one\\two\nthree "four"
                # TYPE a gauge
                a{x="\"}\n\\ é"} 1

                """#)
    }

    @Test(arguments: [
        ("http.requests", "http_requests"), ("2xx", "_2xx"), ("über-groß", "_ber_gro_"), ("", "_"), ("a\nb", "a_b"),
        ("٣", "_"), ("ok_1", "ok_1"),
    ])
    func `names are made of letters, digits and underscores`(label: String, name: String) {
        #expect(PrometheusText.name(label, of: .gauge) == name)
        #expect(PrometheusText.dimensions([(label, "v")]) == "\(name)=\"v\"")
    }

    @Test func `the names of dimensions are distinct and leave the buckets theirs`() {
        #expect(PrometheusText.dimensions([("a.b", "2"), ("a_b", "1"), ("le", "3")]) == #"a_b="2",a_b_="1",le_="3""#)
    }

    @Test(
        arguments: [
            (0.0, "0"), (-0.0, "0"), (3, "3"), (-2, "-2"), (0.1, "0.1"), (1e-7, "1e-07"), (1e16, "1e+16"),
            (.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
        ] as [(Double, String)])
    func `numbers are written as Prometheus reads them`(value: Double, text: String) {
        var output = PrometheusText()
        output.write(name: "n", type: .gauge, help: "N.", ["": value])
        #expect(output.text == "# HELP n N.\n# TYPE n gauge\nn \(text)\n")
    }
}
