// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ConnectInterceptor;
import io.smqtt.spi.ConnectRequest;
import io.smqtt.spi.GuardedAnswer;
import io.smqtt.spi.Interception;
import io.smqtt.spi.Interceptor;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.spi.SubscribeInterceptor;
import io.smqtt.spi.SubscribeRequest;
import io.smqtt.spi.UnsubscribeInterceptor;
import io.smqtt.spi.UnsubscribeRequest;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The interceptors of a broker by kind. If an interceptor fails, its request is refused, and the failure is logged and counted; it
 * never affects the connection. Called on a connection's event loop.
 */
@OnEventLoop
public final class Interceptors {

    private static final Logger LOG = LoggerFactory.getLogger(Interceptors.class);
    private static final String NULL = "the answer is null";

    private final List<ConnectInterceptor> connect;
    private final List<PublishInterceptor> publish;
    private final List<SubscribeInterceptor> subscribe;
    private final List<UnsubscribeInterceptor> unsubscribe;
    private final BrokerObserver observer;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    /**
     * Sorts interceptors.
     *
     * @param all in the order in which they are asked; an interceptor of several kinds is in each of them
     * @param observer receives events about failures
     */
    public Interceptors(List<Interceptor> all, BrokerObserver observer) {
        this.connect = kind(all, ConnectInterceptor.class);
        this.publish = kind(all, PublishInterceptor.class);
        this.subscribe = kind(all, SubscribeInterceptor.class);
        this.unsubscribe = kind(all, UnsubscribeInterceptor.class);
        this.observer = observer;
    }

    private static <I> List<I> kind(List<Interceptor> all, Class<I> kind) {
        return all.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    boolean seeConnect() {
        return !connect.isEmpty();
    }

    boolean seeSubscribe() {
        return !subscribe.isEmpty();
    }

    boolean seeUnsubscribe() {
        return !unsubscribe.isEmpty();
    }

    /** Number of interceptors of messages. */
    int ofPublish() {
        return publish.size();
    }

    /** The first interceptor that a message is handed to: number 0, or none, which is {@link #ofPublish}, while all are idle. */
    int firstOfPublish() {
        for (int i = 0; i < publish.size(); i++) {
            if (!isIdle(publish.get(i))) {
                return 0;
            }
        }
        return publish.size();
    }

    private static boolean isIdle(PublishInterceptor interceptor) {
        try {
            return interceptor.isIdle();
        } catch (RuntimeException | LinkageError | StackOverflowError | AssertionError e) {
            LOG.trace("asked as one that is not idle", e);
            return false;
        }
    }

    /** The answer of one interceptor of messages; an error if it has none. */
    Mono<Interception<ApplicationMessage>> publish(int index, Connection connection, ApplicationMessage message) {
        try {
            return GuardedAnswer.of(
                    Objects.requireNonNull(publish.get(index).intercept(connection.client(), message), NULL));
        } catch (RuntimeException | LinkageError | StackOverflowError | AssertionError e) {
            return Mono.error(e);
        }
    }

    /** The answer of all interceptors of CONNECT; the Mono always has a value. */
    Mono<Interception<ConnectRequest>> connect(Connection connection, ConnectRequest request) {
        return row(
                connection,
                "connect",
                connect,
                0,
                request,
                (member, current) -> member.interceptConnect(connection.client(), current));
    }

    Mono<Interception<SubscribeRequest>> subscribe(Connection connection, SubscribeRequest request) {
        return row(
                connection,
                "subscribe",
                subscribe,
                0,
                request,
                (member, current) -> member.interceptSubscribe(connection.client(), current));
    }

    Mono<Interception<UnsubscribeRequest>> unsubscribe(Connection connection, UnsubscribeRequest request) {
        return row(
                connection,
                "unsubscribe",
                unsubscribe,
                0,
                request,
                (member, current) -> member.interceptUnsubscribe(connection.client(), current));
    }

    /** Logs and counts a failure, and returns the refusal. */
    <T> Interception<T> failed(String packet, Throwable error) {
        if (lines.allows("interceptors")) {
            LOG.warn("an interceptor failed; the {} is refused", packet, error);
        }
        observer.interceptorFailed(packet);
        return Interception.stop(ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR);
    }

    private <I, T> Mono<Interception<T>> row(
            Connection connection,
            String packet,
            List<I> members,
            int next,
            T request,
            BiFunction<I, T, Mono<Interception<T>>> question) {
        if (next == members.size()) {
            return Mono.just(Interception.forward(request));
        }
        Mono<Interception<T>> answer = answer(() -> question.apply(members.get(next), request));
        Interception<T> atHand = Answers.atHand(answer);
        if (atHand != null) {
            return after(connection, packet, members, next, atHand, question);
        }
        return answer.switchIfEmpty(Mono.error(NoSuchElementException::new))
                .onErrorResume(error -> Mono.just(failed(packet, error)))
                .publishOn(Schedulers.fromExecutor(connection.loop().routing().executor()))
                .flatMap(late -> after(connection, packet, members, next, late, question));
    }

    private <I, T> Mono<Interception<T>> after(
            Connection connection,
            String packet,
            List<I> members,
            int asked,
            Interception<T> answer,
            BiFunction<I, T, Mono<Interception<T>>> question) {
        return answer instanceof Interception.Forward<T> forward
                ? row(connection, packet, members, asked + 1, forward.request(), question)
                : Mono.just(answer);
    }

    /** Converts an exception of an extension into an error of its answer. */
    private static <T> Mono<T> answer(Supplier<@Nullable Mono<T>> question) {
        try {
            return GuardedAnswer.of(Objects.requireNonNull(question.get(), NULL));
        } catch (RuntimeException | LinkageError | StackOverflowError | AssertionError e) {
            return Mono.error(e);
        }
    }
}
