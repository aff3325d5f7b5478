// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClientRules;
import io.smqtt.spi.Grants;
import io.smqtt.spi.GuardedAnswer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;

/**
 * Asks the client's own rules, and then authorizers in order; the first decision other than CONTINUE counts. A superuser may do everything. Without one, and after an error or an empty answer, the action
 * is denied. Publishing below $SYS and $event is denied before any authorizer is asked, except for the state of a bridge; below
 * $smqtt everything is.
 *
 * <p>An answer that is available at once (a {@link Callable} Mono, such as those of {@link AccessDecision#now()}) is read without a
 * subscription, and is usually one of three constants: such a decision of a built-in rule allocates nothing.
 */
final class AuthorizerChain implements DirectAuthorizer {

    private static final Logger LOG = LoggerFactory.getLogger(AuthorizerChain.class);
    private static final String KEY = "authorizers";
    private final Authorizer[] members;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    AuthorizerChain(List<Authorizer> members) {
        this.members = members.toArray(Authorizer[]::new);
    }

    @Override
    public Mono<AccessDecision> authorize(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        boolean closed = SystemTopics.isHidden(topic)
                || (action == AccessAction.PUBLISH
                        && SystemTopics.isStatus(topic)
                        && !SystemTopics.isOwnBridgeState(client, topic));
        if (closed) {
            return AccessDecision.DENY.now();
        }
        if (client.grants() != Grants.NONE) {
            AccessDecision granted = granted(client, action, topic, qos, retain);
            if (granted != AccessDecision.CONTINUE) {
                return granted.now();
            }
        }
        return ask(0, client, action, topic, qos, retain);
    }

    private AccessDecision granted(ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        ClientRules rules = client.grants().rules();
        if (client.grants().superuser()) {
            boolean control = action == AccessAction.PUBLISH && SystemTopics.isControl(topic);
            return control ? AccessDecision.DENY : AccessDecision.ALLOW;
        }
        try {
            return rules == null ? AccessDecision.CONTINUE : rules.decide(client, action, topic, qos, retain);
        } catch (RuntimeException | LinkageError | StackOverflowError | AssertionError e) {
            return denied(e);
        }
    }

    @Override
    public long generation() {
        long sum = 0;
        for (Authorizer member : members) {
            sum += member.generation();
        }
        return sum;
    }

    @Override
    public boolean checksDeliveries() {
        for (Authorizer member : members) {
            if (member.checksDeliveries()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean checksDeliveries(ClientIdentity client) {
        return !client.grants().superuser() && (client.grants().rules() != null || checksDeliveries());
    }

    private Mono<AccessDecision> ask(
            int first, ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        for (int i = first; i < members.length; i++) {
            Mono<AccessDecision> answer = answer(members[i], client, action, topic, qos, retain);
            if (!(answer instanceof Callable<?> finished)) {
                return wait(answer, i + 1, new AccessRequest(client, action, topic, qos, retain));
            }
            AccessDecision decision = read(finished);
            if (decision != AccessDecision.CONTINUE) {
                return decision.now();
            }
        }
        return AccessDecision.DENY.now();
    }

    private Mono<AccessDecision> wait(Mono<AccessDecision> answer, int next, AccessRequest request) {
        return GuardedAnswer.of(answer)
                .onErrorResume(error -> Mono.just(denied(error)))
                .defaultIfEmpty(AccessDecision.DENY)
                .flatMap(decision -> decision == AccessDecision.CONTINUE
                        ? ask(
                                next,
                                request.client(),
                                request.action(),
                                request.topic(),
                                request.qos(),
                                request.retain())
                        : decision.now());
    }

    private Mono<AccessDecision> answer(
            Authorizer member, ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        try {
            return Objects.requireNonNull(member.authorize(client, action, topic, qos, retain));
        } catch (RuntimeException | LinkageError | StackOverflowError | AssertionError e) {
            return denied(e).now();
        }
    }

    private AccessDecision read(Callable<?> finished) {
        try {
            @Nullable Object decision = finished.call();
            return decision instanceof AccessDecision made ? made : AccessDecision.DENY;
        } catch (Exception | LinkageError | StackOverflowError | AssertionError e) {
            return denied(e);
        }
    }

    private AccessDecision denied(Throwable error) {
        if (lines.allows(KEY)) {
            LOG.warn("an authorizer failed; the action is denied", error);
        }
        return AccessDecision.DENY;
    }
}
