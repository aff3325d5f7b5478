// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.admin.account.Credentials;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.api.Problem;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.util.ServletRequestPathUtils;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The API and the dashboard within Spring MVC. A request is answered on the thread of the servlet container, virtual or not, which waits for
 * the broker; a stream is written on other threads, which it occupies only while it writes.
 */
final class MvcManagement implements HttpRequestHandler {

    private static final Logger LOG = LoggerFactory.getLogger(MvcManagement.class);

    /** Its own threads: a reader that does not read holds one until the container gives up, and must not hold those of the application. */
    private static final Scheduler WRITERS = Schedulers.newBoundedElastic(32, 32, "smqtt-stream", 60, true);

    private final EmbeddedRequests requests;

    MvcManagement(EmbeddedRequests requests) {
        this.requests = requests;
    }

    @Override
    public void handleRequest(HttpServletRequest request, HttpServletResponse response) throws IOException {
        ApiCall call = call(request);
        ApiAnswer answer = Objects.requireNonNull(requests.answer(call).block());
        response.setStatus(answer.status());
        response.setHeader("Cache-Control", "no-store");
        answer.headers().forEach(response::setHeader);
        if (!answer.contentType().isEmpty()) {
            response.setContentType(answer.contentType());
        }
        if (EmbeddedRequests.hasCsrf() && requests.asksForLogin(call)) {
            Csrf.tell(request, response);
        }
        boolean headOnly = call.method().equals("HEAD");
        if (answer instanceof ApiAnswer.Content content) {
            send(response, content, headOnly);
        } else if (!headOnly) {
            stream(request, response, (ApiAnswer.Stream) answer);
        }
    }

    private static ApiCall call(HttpServletRequest request) {
        String query = request.getQueryString();
        return new ApiCall(
                request.getMethod(),
                ServletRequestPathUtils.getParsedRequestPath(request)
                        .pathWithinApplication()
                        .value(),
                query == null ? "" : query,
                new Credentials(
                        request.getHeader("Authorization"),
                        EmbeddedRequests.address(request.getRemoteAddr(), request.getRemotePort()),
                        host(request),
                        request.getHeader("Origin"),
                        EmbeddedRequests.user(request.getUserPrincipal(), session(request))),
                request::getHeader,
                most -> Mono.fromCallable(() -> body(request, most)));
    }

    private static Function<String, @Nullable Object> session(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        return session == null ? name -> null : session::getAttribute;
    }

    /** The name that the client uses, which a proxy may have forwarded. */
    private static @Nullable String host(HttpServletRequest request) {
        String name = request.getServerName();
        int port = request.getServerPort();
        boolean isDefault = port <= 0 || port == (request.isSecure() ? 443 : 80);
        return name == null || isDefault ? name : name + ":" + port;
    }

    private static byte[] body(HttpServletRequest request, int most) throws IOException {
        byte[] body = request.getInputStream().readNBytes(most + 1);
        if (body.length > most) {
            throw Problem.bodyTooLarge().exception();
        }
        return body;
    }

    private static void send(HttpServletResponse response, ApiAnswer.Content answer, boolean headOnly)
            throws IOException {
        if (answer.status() == HttpServletResponse.SC_NO_CONTENT
                || answer.status() == HttpServletResponse.SC_NOT_MODIFIED) {
            return;
        }
        response.setContentLength(answer.body().length);
        if (!headOnly) {
            response.getOutputStream().write(answer.body());
        }
    }

    private static void stream(HttpServletRequest request, HttpServletResponse response, ApiAnswer.Stream answer)
            throws IOException {
        OutputStream out = response.getOutputStream();
        response.flushBuffer();
        AsyncContext context = request.startAsync();
        context.setTimeout(0);
        Disposable.Swap reading = Disposables.swap();
        context.addListener(new End(reading));
        reading.update(answer.parts()
                .publishOn(WRITERS, 1)
                .subscribe(
                        part -> write(out, part),
                        error -> {
                            LOG.debug("a stream has ended", error);
                            context.complete();
                        },
                        context::complete));
    }

    private static void write(OutputStream out, byte[] part) {
        try {
            out.write(part);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Ends the reading of a stream with its connection.
     *
     * @param reading the subscription
     */
    private record End(Disposable reading) implements AsyncListener {

        @Override
        public void onComplete(AsyncEvent event) {
            reading.dispose();
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            reading.dispose();
        }

        @Override
        public void onError(AsyncEvent event) {
            reading.dispose();
        }

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }

    /** The CSRF token of Spring Security. Loaded only if that is present. */
    private static final class Csrf {

        private Csrf() {}

        static void tell(HttpServletRequest request, HttpServletResponse response) {
            if (request.getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token) {
                response.setHeader(EmbeddedRequests.CSRF, token.getHeaderName() + " " + token.getToken());
            }
        }
    }
}
