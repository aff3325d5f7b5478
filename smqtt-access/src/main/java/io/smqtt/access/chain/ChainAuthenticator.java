// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.access.guard.ClientRefusedException;
import io.smqtt.access.guard.TimeLimit;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessChain;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Grants;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Asks backends and built-in authenticators in order, and fetches the access rules of a client that is accepted, also of one that a built-in
 * authenticator accepts.
 */
@AnyThread
final class ChainAuthenticator implements Authenticator {

    private static final Logger LOG = LoggerFactory.getLogger(ChainAuthenticator.class);
    private static final Authentication UNAVAILABLE = new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE);
    private static final Authentication NOT_AUTHORIZED = new Authentication.Refused(ReasonCode.NOT_AUTHORIZED);
    private static final Authentication BUSY = new Authentication.Refused(ReasonCode.SERVER_BUSY);

    /** The time of a client has so many parts, of which each backend or file in the chain has one, if there are not more of them. */
    private static final int SHARES = 5;

    /** A step of the chain: one of both. */
    private record Step(@Nullable Member member, @Nullable Authenticator builtIn) {}

    private final List<Step> steps = new ArrayList<>();
    private final List<Member> members;
    private final Function<String, Duration> connectTimeouts;
    private final Scheduler timers;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    /**
     * Creates the chain.
     *
     * @param chain the names of its steps
     * @param backends backends by name
     * @param builtIn authenticators of the broker by name, and the one for clients without a user
     * @param connectTimeouts the time that a client has on a listener
     * @param timers ends questions in time
     */
    ChainAuthenticator(
            List<String> chain,
            Map<String, Member> backends,
            Map<String, Authenticator> builtIn,
            Function<String, Duration> connectTimeouts,
            Scheduler timers) {
        this.connectTimeouts = connectTimeouts;
        this.timers = timers;
        for (String name : chain) {
            steps.add(new Step(backends.get(name), builtIn.get(name)));
        }
        steps.add(new Step(null, builtIn.get(AccessChain.ANONYMOUS)));
        members = chain.stream()
                .filter(backends::containsKey)
                .map(backends::get)
                .map(Member.class::cast)
                .toList();
    }

    private ChainAuthenticator(List<Member> members, Function<String, Duration> connectTimeouts, Scheduler timers) {
        this.members = members;
        this.connectTimeouts = connectTimeouts;
        this.timers = timers;
        members.stream().filter(Member::checksTokens).forEach(member -> steps.add(new Step(member, null)));
    }

    /** Asks only the backends of the chain that check tokens, in the same order; all of them are asked for rules. */
    ChainAuthenticator ofTokens() {
        return new ChainAuthenticator(members, connectTimeouts, timers);
    }

    /** Whether the chain has no backend. */
    boolean isEmpty() {
        return steps.isEmpty();
    }

    @Override
    public Mono<Authentication> authenticate(AuthenticationRequest request) {
        return ask(0, request, BackendRequest.of(request), timers.now(TimeUnit.NANOSECONDS));
    }

    private Mono<Authentication> ask(int index, AuthenticationRequest request, BackendRequest client, long startNanos) {
        if (index == steps.size()) {
            return Authentication.CONTINUE.now();
        }
        Step step = steps.get(index);
        Member member = step.member;
        Authenticator builtIn = step.builtIn;
        Mono<Authentication> answer = Authentication.CONTINUE.now();
        if (member != null && member.checksUsers(client.userName())) {
            answer = ask(member, client, limit(index, member, client, startNanos));
        } else if (builtIn != null) {
            answer = Mono.defer(() -> builtIn.authenticate(request)).flatMap(made -> withRules(made, client));
        }
        return answer.flatMap(made -> made instanceof Authentication.Continue
                ? ask(index + 1, request, client, startNanos)
                : Mono.just(made));
    }

    /**
     * The time that a backend has for this client, if others are to be asked after its failure: what is left when each of these has its part. Null for
     * no limit of this kind.
     */
    private @Nullable TimeLimit limit(int index, Member member, BackendRequest client, long startNanos) {
        long following = steps.stream().skip(index + 1L).filter(this::isNamed).count();
        if (following == 0 || !member.goesOnAfterFailure()) {
            return null;
        }
        long all = connectTimeouts.apply(client.listener()).toNanos();
        return TimeLimit.of(timers, startNanos + all, all / SHARES, following);
    }

    private boolean isNamed(Step step) {
        return step.member != null || step != steps.get(steps.size() - 1);
    }

    private Mono<Authentication> ask(Member member, BackendRequest client, @Nullable TimeLimit limit) {
        return member.authenticate(client, limit)
                .flatMap(answer -> answered(member, answer, client))
                .onErrorResume(error -> Mono.just(failed(member, error)));
    }

    private Authentication failed(Member member, Throwable error) {
        boolean busy = error instanceof BackendBusyException;
        if (busy && !((BackendBusyException) error).isDown()) {
            return BUSY;
        }
        if (error instanceof ClientRefusedException) {
            return Authentication.refused();
        }
        if (member.goesOnAfterFailure()) {
            return Authentication.CONTINUE;
        }
        return busy ? BUSY : UNAVAILABLE;
    }

    private Mono<Authentication> answered(Member member, BackendAnswer answer, BackendRequest client) {
        if (answer instanceof BackendAnswer.Allow allow) {
            Grants grants = new Grants(allow.superuser(), allow.attributes(), allow.expiresAt(), null);
            List<AccessRule> own = member.config().checksRules() ? allow.rules() : null;
            return granted(client.userName(), Set.of(), grants, own, client);
        }
        return (answer instanceof BackendAnswer.Deny ? Authentication.refused() : Authentication.CONTINUE).now();
    }

    private Mono<Authentication> withRules(Authentication made, BackendRequest client) {
        return made instanceof Authentication.Accepted accepted
                ? granted(accepted.userName(), accepted.roles(), accepted.grants(), null, client)
                : Mono.just(made);
    }

    /** Adds the rules of the client to what it is granted. */
    private Mono<Authentication> granted(
            @Nullable String userName,
            Set<String> roles,
            Grants grants,
            @Nullable List<AccessRule> own,
            BackendRequest client) {
        List<Member> sources =
                members.stream().filter(member -> member.hasRules(userName)).toList();
        if (grants.superuser() || (own == null && sources.isEmpty())) {
            return Mono.just(new Authentication.Accepted(userName, roles, grants));
        }
        BackendRequest request = client.authenticated(userName, grants.attributes());
        return fetch(sources, request)
                .map(fetched -> {
                    FetchedRules rules = new FetchedRules(request, own == null ? List.of() : own, fetched);
                    return (Authentication) new Authentication.Accepted(userName, roles, grants.withRules(rules));
                })
                .onErrorResume(error -> Mono.just(withoutRules(error)));
    }

    private Authentication withoutRules(Throwable error) {
        if (error instanceof BackendBusyException) {
            return BUSY;
        }
        if (lines.allows("rules")) {
            LOG.warn("access rules cannot be used, the client is refused: {}", error.getMessage());
        }
        return error instanceof ClientRefusedException ? NOT_AUTHORIZED : UNAVAILABLE;
    }

    /** Whether the backend has failed: not for what the client has sent, and not if too many requests wait. */
    private static boolean isFailure(Throwable error) {
        return !(error instanceof ClientRefusedException)
                && !(error instanceof BackendBusyException busy && !busy.isDown());
    }

    /** Fetches the rules of all sources in order. */
    private static Mono<List<MemberRules>> fetch(List<Member> sources, BackendRequest request) {
        return Flux.fromIterable(sources)
                .concatMap(member -> {
                    Mono<MemberRules> rules = MemberRules.of(member, member.rules(request));
                    return member.goesOnAfterFailure()
                            ? rules.onErrorReturn(ChainAuthenticator::isFailure, MemberRules.unknown(member))
                            : rules;
                })
                .collectList();
    }
}
