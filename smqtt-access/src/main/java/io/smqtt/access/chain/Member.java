// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.ReloadResult;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackend.Ability;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.access.guard.Guard;
import io.smqtt.access.guard.TimeLimit;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.AccessBackendConfig.OnFailure;
import io.smqtt.spi.AccessDecision;
import io.smqtt.thread.AnyThread;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** One backend of the chain, behind its guard. */
@AnyThread
final class Member {

    private static final String USER = "user";
    private static final String RULES = "rules";

    private final String name;
    private final AccessBackendConfig config;
    private final AccessBackend backend;
    private final Guard guard;

    Member(String name, AccessBackendConfig config, AccessBackend backend, Guard guard) {
        this.name = name;
        this.config = config;
        this.backend = backend;
        this.guard = guard;
    }

    String name() {
        return name;
    }

    AccessBackendConfig config() {
        return config;
    }

    Guard guard() {
        return guard;
    }

    boolean goesOnAfterFailure() {
        return config.onFailure() == OnFailure.NEXT;
    }

    boolean checksUsers(@Nullable String userName) {
        return config.checksUsers() && backend.abilities().contains(Ability.USERS) && isFor(userName);
    }

    /** Whether a client can bring its token by AUTH. */
    boolean checksTokens() {
        return config.checksUsers() && backend.abilities().contains(Ability.TOKENS);
    }

    /** Whether this is where the rules of a client are. */
    boolean hasRules(@Nullable String userName) {
        return hasRules() && isFor(userName);
    }

    boolean hasRules() {
        return config.checksRules() && backend.abilities().contains(Ability.RULES);
    }

    boolean decidesTopics(@Nullable String userName) {
        return decidesTopics() && isFor(userName);
    }

    boolean decidesTopics() {
        return config.checksRules() && backend.abilities().contains(Ability.TOPICS);
    }

    private boolean isFor(@Nullable String userName) {
        String prefix = config.userPrefix();
        return prefix.isEmpty() || (userName != null && userName.startsWith(prefix));
    }

    /** Asks about a client; with a limit if others are to be asked after a failure. */
    Mono<BackendAnswer> authenticate(BackendRequest request, @Nullable TimeLimit limit) {
        if (backend.isLocal()) {
            return guard.count(() -> limit == null // a late answer counts as one
                    ? backend.authenticate(request)
                    : limit.of(backend.authenticate(request)));
        }
        return limit == null
                ? guard.ask(USER, request, () -> backend.authenticate(request))
                : guard.ask(USER, request, () -> backend.authenticate(request), limit);
    }

    Mono<List<AccessRule>> rules(BackendRequest request) {
        return backend.isLocal()
                ? guard.count(() -> backend.rules(request))
                : guard.ask(RULES, request, () -> backend.rules(request));
    }

    Mono<List<AccessRule>> rulesAgain(BackendRequest request) {
        return backend.isLocal()
                ? guard.count(() -> backend.rules(request))
                : guard.askAgain(RULES, request, () -> backend.rules(request));
    }

    Mono<AccessDecision> authorize(TopicRequest request) {
        return backend.isLocal()
                ? guard.count(() -> backend.authorize(request))
                : guard.ask(request, () -> backend.authorize(request));
    }

    void start() {
        backend.start();
    }

    /** Reads files again. Blocks. */
    ReloadResult reload() {
        return backend.reload();
    }

    /** Forgets all answers. Returns about how many there were. */
    long clear() {
        backend.refresh();
        return guard.clear();
    }

    void close() {
        backend.close();
    }
}
