"""Apple's client, sync or async, behind one listener."""

import asyncio
import concurrent.futures
import inspect

from appstoreserverlibrary.api_client import AppStoreServerAPIClient, AsyncAppStoreServerAPIClient


class SyncForm:
    """How the client that blocks is called."""

    name = "sync"
    client_class = AppStoreServerAPIClient

    def __init__(self):
        self.called = set()

    def wait(self, result):
        """What a method has returned."""
        return result

    def together(self, calls):
        """Makes calls at once; what they returned, in their order."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=len(calls)) as pool:
            return [one.result() for one in [pool.submit(call) for call in calls]]

    def watch(self, client, note):
        """Shows every raw answer to `note`: the library keeps headers to itself."""
        execute = client._execute_request

        def watched(*arguments):
            answer = execute(*arguments)
            note(answer)
            return answer

        client._execute_request = watched

    def close(self, client):
        """Ends a client."""

    def end(self):
        """Ends the form."""


class AsyncForm:
    """How the client that suspends is called: all its calls share one event loop."""

    name = "async"
    client_class = AsyncAppStoreServerAPIClient

    def __init__(self):
        self.called = set()
        self._loop = asyncio.new_event_loop()

    def wait(self, result):
        """What a method has returned."""
        return self._loop.run_until_complete(result)

    def together(self, calls):
        """Makes calls at once; what they returned, in their order."""

        async def gather():
            return await asyncio.gather(*[call() for call in calls])

        return self.wait(gather())

    def watch(self, client, note):
        """Shows every raw answer to `note`: the library keeps headers to itself."""
        execute = client._execute_request

        async def watched(*arguments):
            answer = await execute(*arguments)
            note(answer)
            return answer

        client._execute_request = watched

    def close(self, client):
        """Ends a client."""
        self.called.add("async_close")
        self.wait(client.async_close())

    def end(self):
        """Ends the form."""
        self._loop.close()


def public_methods(form):
    """The names of every method that Apple's client has for its users."""
    return {name for name, _ in inspect.getmembers(form.client_class, inspect.isfunction) if not name.startswith("_")}


class Apple:
    """Apple's client for one app in one environment; whatever is called on it is Apple's own method.

    Only the base URL is changed.
    """

    def __init__(self, form, base_url, credential, bundle_id, environment):
        self.environment = environment
        self.bundle_id = bundle_id
        self.answer = None
        self.client = form.client_class(
            credential.private_key, credential.key_id, credential.issuer_id, bundle_id, environment
        )
        self.client._base_url = base_url
        self._form = form
        form.watch(self.client, self._note)

    def _note(self, answer):
        self.answer = answer

    def __getattr__(self, name):
        method = getattr(self.client, name)
        self._form.called.add(name)
        return lambda *arguments, **named: self._form.wait(method(*arguments, **named))

    def together(self, name, lists):
        """Calls one method at once with each list of arguments."""
        method = getattr(self.client, name)
        return self._form.together([lambda arguments=arguments: method(*arguments) for arguments in lists])

    def close(self):
        """Ends the client."""
        self._form.close(self.client)
