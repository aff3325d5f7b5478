// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import io.smqtt.ReloadResult;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.Template;
import io.smqtt.access.backend.TemplateValues;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Accepts clients whose password or user name is a token with a valid signature. What is no such token, another backend may know; a token
 * with a valid signature that has expired or has a wrong claim is refused. Signatures of public keys are checked on threads of the backend,
 * because some take milliseconds.
 */
@AnyThread
final class JwtBackend implements AccessBackend {

    private static final Logger LOG = LoggerFactory.getLogger(JwtBackend.class);

    /**
     * The requirements on a token.
     *
     * @param fromUserName whether the user name is the token, not the password
     * @param leeway how much clocks may differ
     * @param expected values of claims
     * @param rulesClaim the name of the claim with the access rules
     * @param endsAtExpiry whether a client is disconnected when its token expires
     */
    record Policy(
            boolean fromUserName,
            Duration leeway,
            Map<String, Template> expected,
            String rulesClaim,
            boolean endsAtExpiry) {

        /** Copies the values. */
        Policy {
            expected = Map.copyOf(expected);
        }
    }

    private final String name;
    private final KeySource source;
    private final Policy policy;
    private final InstantSource clock;
    private final Scheduler checks;

    JwtBackend(String name, KeySource source, Policy policy, InstantSource clock, Scheduler checks) {
        this.name = name;
        this.source = source;
        this.policy = policy;
        this.clock = clock;
        this.checks = checks;
    }

    @Override
    public Set<Ability> abilities() {
        return policy.fromUserName ? EnumSet.of(Ability.USERS) : EnumSet.of(Ability.USERS, Ability.TOKENS);
    }

    @Override
    public boolean isLocal() {
        return true;
    }

    @Override
    public Mono<BackendAnswer> authenticate(BackendRequest request) {
        String text = text(request);
        if (text == null) {
            return Mono.just(BackendAnswer.NOT_MINE);
        }
        if (text.length() > SignedToken.MAXIMUM_CHARS) {
            return Mono.just(BackendAnswer.DENY);
        }
        SignedToken token = SignedToken.parse(text);
        return token == null
                ? Mono.just(BackendAnswer.NOT_MINE)
                : source.keys(token).flatMap(keys -> check(token, keys, request));
    }

    private @Nullable String text(BackendRequest request) {
        if (policy.fromUserName) {
            return request.userName();
        }
        byte[] password = request.password();
        boolean tooLong = password != null && password.length > SignedToken.MAXIMUM_CHARS;
        return tooLong ? " ".repeat(SignedToken.MAXIMUM_CHARS + 1) : request.passwordText();
    }

    private Mono<BackendAnswer> check(SignedToken token, List<VerificationKey> keys, BackendRequest request) {
        if (keys.isEmpty()) {
            return Mono.just(BackendAnswer.NOT_MINE);
        }
        return Mono.fromCallable(() -> answer(token, keys, request))
                .subscribeOn(checks)
                .onErrorMap(
                        RejectedExecutionException.class,
                        error -> new BackendBusyException(name + ": too many tokens wait for their check", false));
    }

    private BackendAnswer answer(SignedToken token, List<VerificationKey> keys, BackendRequest request) {
        if (keys.stream().noneMatch(key -> key.verifies(token))) {
            return BackendAnswer.NOT_MINE;
        }
        try {
            Claims claims = Claims.parse(token.payload().decode());
            claims.checkTimes(clock.instant(), policy.leeway);
            policy.expected.forEach((claim, template) -> check(claims, claim, template, request));
            return new BackendAnswer.Allow(
                    claims.isSuperuser(),
                    claims.attributes(),
                    policy.endsAtExpiry ? claims.end(policy.leeway) : null,
                    claims.rules(policy.rulesClaim));
        } catch (IllegalArgumentException e) {
            LOG.debug("token of client {} refused: {}", request.clientId(), e.getMessage());
            return BackendAnswer.DENY;
        }
    }

    private static void check(Claims claims, String claim, Template template, TemplateValues values) {
        boolean known = template.parameters(values).stream().noneMatch(value -> value == null || value.isEmpty());
        if (!known || !claims.has(claim, template.fill(values, UnaryOperator.identity()))) {
            throw new IllegalArgumentException("the claim " + claim + " is not as verify-claims has it");
        }
    }

    @Override
    public void start() {
        source.start();
    }

    @Override
    public ReloadResult reload() {
        return source.reload();
    }

    @Override
    public void refresh() {
        source.refresh();
    }

    @Override
    public void close() {
        source.close();
        checks.dispose();
    }
}
