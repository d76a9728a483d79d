"""Google's gRPC for Python against a daemon; run-grpc.sh says what there is. Prints a line for each check.

usage: grpc_client.py plain|drain|tls ADDRESS PROTOS FOLDER TRANSACTION CONTROL
"""

import json
import os
import pathlib
import sys
import threading
import time
import urllib.request

import grpc
from google.protobuf import descriptor_pool, json_format, symbol_database
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

setting, address, protos, folder, transaction, control = sys.argv[1:]
folder = pathlib.Path(folder)
limit = float(os.environ["WAIT_SECONDS"])
sys.path.insert(0, protos)
stubs = {name: grpc.protos_and_services(f"purser/v1/{name}.proto")
         for name in ("apps", "cases", "consumption", "events", "links", "transactions", "callers")}
token = [("authorization", "Bearer " + (folder / "token").read_text().strip())]


def check(name, holds, told=""):
    print(f"{'ok  ' if holds else 'FAIL'} {name} {told if not holds else ''}")
    if not holds:
        sys.exit(1)


def stub(channel, file, service):
    return getattr(stubs[file][1], f"{service}Stub")(channel)


def failure(call, *arguments, **options):
    """How a call fails, with its details by type."""
    try:
        call(*arguments, **options)
    except grpc.RpcError as error:
        details = {}
        for key, value in error.trailing_metadata() or []:
            if key == "grpc-status-details-bin":
                for detail in status_pb2.Status.FromString(value).details:
                    details[detail.type_url.split("/")[-1]] = detail
        return error.code(), error.details(), details
    return grpc.StatusCode.OK, "", {}


def unary(channel):
    apps = stub(channel, "apps", "AppsService")
    request = stubs["apps"][0].ListAppsRequest()
    answer, call = apps.ListApps.with_call(request, metadata=token + [("x-request-id", "python-1")], timeout=limit)
    check("a unary call", [app.app for app in answer.apps] == ["coins"], answer)
    check("its request id", dict(call.initial_metadata()).get("x-request-id") == "python-1")
    links = stub(channel, "links", "LinksService")
    module = stubs["links"][0]
    link, call = links.DeclareLink.with_call(
        module.DeclareLinkRequest(app="coins", user="bob/ü", kind=1, value=transaction), metadata=token, timeout=limit)
    check("what was made is told", link.user == "bob/ü" and dict(call.initial_metadata()).get("http-status") == "201", link)
    transactions = stub(channel, "transactions", "TransactionsService")
    found = transactions.GetTransaction(
        stubs["transactions"][0].GetTransactionRequest(app="coins", transaction_id=transaction), metadata=token,
        timeout=limit)
    check("Apple's payload has types", found.transaction.transaction_id == transaction
          and found.transaction.price == 990 and found.verified, found)


def failures(channel):
    consumption = stub(channel, "consumption", "ConsumptionService")
    module = stubs["consumption"][0]
    request = module.SendUserConsumptionRequest(app="coins", user="bob")
    request.consumption.transaction_id = transaction
    request.consumption.customer_consented = False
    request.consumption.consumption_percentage = 200000
    code, text, details = failure(consumption.SendUserConsumption, request, metadata=token, timeout=limit)
    check("broken rules", code == grpc.StatusCode.INVALID_ARGUMENT, (code, text))
    broken = error_details_pb2.BadRequest()
    details["google.rpc.BadRequest"].Unpack(broken)
    check("all violations", {each.field for each in broken.field_violations}
          >= {"customerConsented", "deliveryStatus", "sampleContentProvided", "consumptionPercentage"}, broken)
    info = error_details_pb2.ErrorInfo()
    details["google.rpc.ErrorInfo"].Unpack(info)
    check("the reason", info.reason == "INVALID_REQUEST" and info.domain == "purser", info)
    check("the problem itself", "purser.v1.Problem" in details)
    cases = stub(channel, "cases", "CasesService")
    ask = stubs["cases"][0].ListCasesRequest(app="nothing")
    check("an app that is not there", failure(cases.ListCases, ask, metadata=token, timeout=limit)[0]
          == grpc.StatusCode.NOT_FOUND)
    check("nobody's credential", failure(cases.ListCases, ask, timeout=limit)[0] == grpc.StatusCode.UNAUTHENTICATED)
    wrong = [("authorization", "Bearer prs_wrong")]
    check("a wrong credential", failure(cases.ListCases, ask, metadata=wrong, timeout=limit)[0]
          == grpc.StatusCode.UNAUTHENTICATED)
    links = stub(channel, "links", "LinksService")
    callers = stub(channel, "callers", "CallersService")
    check("an operators' method", failure(
        callers.ListCallers, stubs["callers"][0].ListCallersRequest(), metadata=token, timeout=limit)[0]
        == grpc.StatusCode.UNIMPLEMENTED)
    del links
    large = stubs["cases"][0].ListCasesRequest(app="coins", user="x" * 20_000)
    code, text, _ = failure(cases.ListCases, large, metadata=token, timeout=limit)
    check("a message that is too large", code == grpc.StatusCode.RESOURCE_EXHAUSTED and "16384" in text, (code, text))
    larger = stubs["cases"][0].ListCasesRequest(app="coins", user="x" * 2_000_000)
    check("one that is much too large", failure(cases.ListCases, larger, metadata=token, timeout=limit)[0]
          == grpc.StatusCode.RESOURCE_EXHAUSTED)
    fine = stubs["cases"][0].ListCasesRequest(app="coins")
    check("the connection goes on", failure(cases.ListCases, fine, metadata=token, timeout=limit)[0]
          == grpc.StatusCode.OK)


def times(channel):
    """Deadlines and cancellation, with an App Store that takes its time."""
    def simulate(method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        urllib.request.urlopen(urllib.request.Request(control + path, data, method=method), timeout=limit).read()

    simulate("POST", "/faults", {"effect": "latency", "milliseconds": 30_000, "endpoint": "Get Transaction Info"})
    transactions = stub(channel, "transactions", "TransactionsService")
    # One that no earlier answer is remembered of.
    ask = stubs["transactions"][0].GetTransactionRequest(app="coins", transaction_id=transaction)
    begun = time.monotonic()
    code, _, _ = failure(transactions.GetTransaction, ask, metadata=token, timeout=1)
    check("a deadline", code == grpc.StatusCode.DEADLINE_EXCEEDED and time.monotonic() - begun < 20, code)
    call = transactions.GetTransaction.future(ask, metadata=token, timeout=limit)
    time.sleep(0.5)
    call.cancel()
    check("a call that is broken off", call.cancelled())
    simulate("DELETE", "/faults")
    log = folder / "purser.log"
    end = time.monotonic() + limit
    while time.monotonic() < end and "The client went away" not in log.read_text():
        time.sleep(0.1)
    check("work on it ends", "The client went away" in log.read_text())


def streams(channel):
    events = stub(channel, "events", "EventsService")
    module = stubs["events"][0]
    watch = events.WatchEvents(module.WatchEventsRequest(app="coins"), metadata=token, timeout=limit)
    cursor = dict(watch.initial_metadata()).get("event-cursor")
    check("a stream begins", bool(cursor))
    consumption = stub(channel, "consumption", "ConsumptionService")
    request = stubs["consumption"][0].SendUserConsumptionRequest(app="coins", user="bob/ü")
    given = request.consumption
    given.transaction_id, given.customer_consented, given.delivery_status = transaction, True, 1
    given.sample_content_provided = False
    delivery = consumption.SendUserConsumption(request, metadata=token, timeout=limit)
    check("an answer to Apple", delivery.transaction_id == transaction, delivery)
    first = next(watch)
    check("an event", first.data.delivery_id == delivery.id, first)
    watch.cancel()
    again = events.WatchEvents(module.WatchEventsRequest(app="coins", after=cursor), metadata=token, timeout=limit)
    check("the same from a cursor", next(again).id == first.id)
    again.cancel()
    code = None
    try:
        for _ in events.WatchEvents(module.WatchEventsRequest(app="coins"), metadata=token, timeout=0.5):
            pass
    except grpc.RpcError as error:
        code = error.code()
    check("a stream with a deadline", code == grpc.StatusCode.DEADLINE_EXCEEDED, code)
    code = None
    try:
        next(events.WatchEvents(module.WatchEventsRequest(app="coins"), timeout=limit))
    except grpc.RpcError as error:
        code = error.code()
    check("a stream for nobody", code == grpc.StatusCode.UNAUTHENTICATED, code)


def health(channel):
    probe = health_pb2_grpc.HealthStub(channel)
    for service in ("", "purser.v1.EventsService"):
        answer = probe.Check(health_pb2.HealthCheckRequest(service=service), timeout=limit)
        check(f"health of {service or 'all'}", answer.status == health_pb2.HealthCheckResponse.SERVING)
    check("health of nothing", failure(probe.Check, health_pb2.HealthCheckRequest(service="x"), timeout=limit)[0]
          == grpc.StatusCode.NOT_FOUND)
    first = next(probe.Watch(health_pb2.HealthCheckRequest(), timeout=limit))
    check("health is watched", first.status == health_pb2.HealthCheckResponse.SERVING)


def reflection(channel):
    """A client that has no files asks for them; the service has the same form in both of its versions."""
    from grpc_reflection.v1alpha import reflection_pb2

    call = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString)
    names = ["purser.v1.CasesService", "google.rpc.BadRequest", "purser.v1.Problem"]
    asked = [reflection_pb2.ServerReflectionRequest(list_services="")]
    asked += [reflection_pb2.ServerReflectionRequest(file_containing_symbol=name) for name in names]
    answers = list(call(iter(asked), timeout=limit))
    services = [each.name for each in answers[0].list_services_response.service]
    check("reflection lists services", "purser.v1.CasesService" in services and "grpc.health.v1.Health" in services, services)
    pool = descriptor_pool.DescriptorPool()
    from google.protobuf import descriptor_pb2
    files = {}
    for answer in answers[1:]:
        for content in answer.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(content)
            files[file.name] = file
    def add(name):
        file = files.pop(name, None)
        if file:
            for other in file.dependency:
                add(other)
            pool.Add(file)
    for name in list(files):
        add(name)
    found = [pool.FindServiceByName(names[0]).full_name, *(pool.FindMessageTypeByName(name).full_name for name in names[1:])]
    check("reflection tells files that fit together", found == names, found)


def drain(channel):
    """A stream that is open when the daemon is told to stop."""
    events = stub(channel, "events", "EventsService")
    watch = events.WatchEvents(stubs["events"][0].WatchEventsRequest(app="coins"), metadata=token, timeout=limit)
    watch.initial_metadata()
    (folder / "watching").touch()
    code = None
    try:
        for _ in watch:
            pass
    except grpc.RpcError as error:
        code = error.code()
    check("a stream ends with the daemon", code == grpc.StatusCode.UNAVAILABLE, code)


def tls():
    name = "localhost:" + address.rsplit(":", 1)[1]
    root = (folder / "server.pem").read_bytes()
    apps = stubs["apps"][0].ListAppsRequest()

    def code(credentials, metadata):
        with grpc.secure_channel(name, credentials) as channel:
            return failure(stub(channel, "apps", "AppsService").ListApps, apps, metadata=metadata, timeout=limit)[0]

    plain = grpc.ssl_channel_credentials(root)
    check("TLS and a token", code(plain, token) == grpc.StatusCode.OK)
    check("TLS and nothing", code(plain, None) == grpc.StatusCode.UNAUTHENTICATED)
    shown = grpc.ssl_channel_credentials(
        root, (folder / "client.key").read_bytes(), (folder / "client.pem").read_bytes())
    check("a certificate", code(shown, None) == grpc.StatusCode.OK)
    check("a certificate and a wrong token", code(shown, [("authorization", "Bearer prs_x")])
          == grpc.StatusCode.UNAUTHENTICATED)
    with grpc.insecure_channel(name) as channel:
        found = failure(stub(channel, "apps", "AppsService").ListApps, apps, metadata=token, timeout=10)[0]
        check("no TLS where there is to be", found in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED), found)
    # Reflection is off unless it is wanted.
    with grpc.secure_channel(name, plain) as channel:
        call = channel.unary_unary("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
        check("no reflection unless it is wanted", failure(call, b"", timeout=limit)[0] == grpc.StatusCode.UNIMPLEMENTED)


if setting == "tls":
    tls()
else:
    with grpc.insecure_channel(address) as channel:
        for part in [drain] if setting == "drain" else [unary, failures, streams, times, health, reflection]:
            part(channel)
