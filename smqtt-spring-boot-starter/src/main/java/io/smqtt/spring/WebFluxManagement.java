// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.admin.account.Credentials;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiCall;
import io.smqtt.admin.api.Problem;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.security.web.server.csrf.CsrfToken;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import org.springframework.web.server.WebSession;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The API and the dashboard within WebFlux. Answers are made on threads of their own, not on the event loops of the server. */
final class WebFluxManagement implements WebHandler {

    /** Timeout for a body. */
    private static final Duration BODY = Duration.ofSeconds(10);

    private final EmbeddedRequests requests;

    WebFluxManagement(EmbeddedRequests requests) {
        this.requests = requests;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange) {
        return Mono.zip(
                        exchange.getPrincipal().map(Optional::of).defaultIfEmpty(Optional.empty()),
                        exchange.getSession())
                .flatMap(login -> answer(exchange, call(exchange, login.getT1().orElse(null), session(login.getT2()))));
    }

    private Mono<Void> answer(ServerWebExchange exchange, ApiCall call) {
        Mono<Void> prepared =
                EmbeddedRequests.hasCsrf() && requests.asksForLogin(call) ? Csrf.tell(exchange) : Mono.empty();
        return prepared.then(Mono.defer(() -> requests.answer(call)).subscribeOn(Schedulers.boundedElastic()))
                .flatMap(answer ->
                        send(exchange.getResponse(), answer, call.method().equals("HEAD")));
    }

    private static Function<String, @Nullable Object> session(WebSession session) {
        return name -> {
            if (session.isExpired()) {
                throw new IllegalStateException("the session has ended");
            }
            return session.getAttribute(name);
        };
    }

    private static ApiCall call(
            ServerWebExchange exchange, @Nullable Principal user, Function<String, @Nullable Object> session) {
        ServerHttpRequest request = exchange.getRequest();
        HttpHeaders headers = request.getHeaders();
        String query = request.getURI().getRawQuery();
        InetSocketAddress remote = request.getRemoteAddress();
        String authority = request.getURI().getRawAuthority();
        return new ApiCall(
                request.getMethod().name(),
                request.getPath().pathWithinApplication().value(),
                query == null ? "" : query,
                new Credentials(
                        headers.getFirst(HttpHeaders.AUTHORIZATION),
                        remote == null ? EmbeddedRequests.address(null, 0) : remote,
                        authority == null ? headers.getFirst(HttpHeaders.HOST) : authority,
                        headers.getFirst(HttpHeaders.ORIGIN),
                        EmbeddedRequests.user(user, session)),
                headers::getFirst,
                most -> body(request, most));
    }

    private static Mono<byte[]> body(ServerHttpRequest request, int most) {
        return DataBufferUtils.join(request.getBody(), most)
                .map(WebFluxManagement::bytes)
                .defaultIfEmpty(new byte[0])
                .timeout(BODY)
                .onErrorMap(
                        DataBufferLimitException.class,
                        error -> Problem.bodyTooLarge().exception())
                .onErrorMap(
                        TimeoutException.class, error -> Problem.bodyTooSlow().exception());
    }

    private static byte[] bytes(DataBuffer buffer) {
        try {
            byte[] bytes = new byte[buffer.readableByteCount()];
            buffer.read(bytes);
            return bytes;
        } finally {
            DataBufferUtils.release(buffer);
        }
    }

    private static Mono<Void> send(ServerHttpResponse response, ApiAnswer answer, boolean headOnly) {
        response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        HttpHeaders headers = response.getHeaders();
        headers.set(HttpHeaders.CACHE_CONTROL, "no-store");
        answer.headers().forEach(headers::set);
        if (!answer.contentType().isEmpty()) {
            headers.set(HttpHeaders.CONTENT_TYPE, answer.contentType());
        }
        if (answer instanceof ApiAnswer.Stream stream) {
            return headOnly
                    ? response.setComplete()
                    : response.writeAndFlushWith(stream.parts()
                            .map(part -> Mono.just(response.bufferFactory().wrap(part))));
        }
        byte[] body = ((ApiAnswer.Content) answer).body();
        if (answer.status() == HttpStatus.NO_CONTENT.value() || answer.status() == HttpStatus.NOT_MODIFIED.value()) {
            return response.setComplete();
        }
        headers.setContentLength(body.length);
        return headOnly || body.length == 0
                ? response.setComplete()
                : response.writeWith(
                        Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
    }

    /** The CSRF token of Spring Security. Loaded only if that is present. */
    private static final class Csrf {

        private Csrf() {}

        static Mono<Void> tell(ServerWebExchange exchange) {
            Mono<CsrfToken> token = exchange.getAttribute(CsrfToken.class.getName());
            return token == null
                    ? Mono.empty()
                    : token.doOnNext(found -> exchange.getResponse()
                                    .getHeaders()
                                    .set(EmbeddedRequests.CSRF, found.getHeaderName() + " " + found.getToken()))
                            .then();
        }
    }
}
