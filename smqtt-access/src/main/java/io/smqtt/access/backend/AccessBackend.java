// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.ReloadResult;
import io.smqtt.spi.AccessDecision;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * A backend of authentication and authorization. The broker limits the requests that are made at the same time, ends each one after
 * {@link io.smqtt.config.AccessBackendConfig#timeout()} by cancelling its subscription, keeps answers, and stops asking while the
 * backend fails: an implementation does none of this.
 *
 * <p>All methods are called on any thread, event loops among them, and must not block. A Mono may complete on any thread. An error is a
 * failure of the backend; its message is logged, so it must not contain a secret. An empty Mono is a failure, too. A
 * {@link io.smqtt.access.guard.ClientRefusedException} is none: it refuses the client.
 */
@AnyThread
public interface AccessBackend {

    /** A kind of question that a backend answers. */
    enum Ability {
        /** {@link #authenticate}. */
        USERS,
        /** {@link #authenticate} with a token in the place of the password, which a connected client may replace by another one. */
        TOKENS,
        /** {@link #rules}: the backend is where access rules are. Without it, rules come only with {@link BackendAnswer.Allow}. */
        RULES,
        /** {@link #authorize}: the backend decides about each topic. */
        TOPICS
    }

    /**
     * The kinds of questions that this backend answers, as it is configured. Always the same.
     *
     * @return not empty
     */
    Set<Ability> abilities();

    /**
     * Whether answers are computed in memory, such as the check of a token's signature: the broker then neither limits nor keeps them, and only counts them.
     * Always the same.
     *
     * @return false by default
     */
    default boolean isLocal() {
        return false;
    }

    /**
     * Checks the credentials of a client.
     *
     * @param request the client
     * @return exactly one answer
     */
    default Mono<BackendAnswer> authenticate(BackendRequest request) {
        return Mono.just(BackendAnswer.NOT_MINE);
    }

    /**
     * Fetches the access rules of a client, which is authenticated. Asked at connect, and again when the rules are older than
     * {@link io.smqtt.config.AccessBackendConfig#cacheTtl()}.
     *
     * @param request the client, without its password
     * @return the rules in order, the first one that applies decides; an empty list if the client has none
     */
    default Mono<List<AccessRule>> rules(BackendRequest request) {
        return Mono.just(List.of());
    }

    /**
     * Decides about one action of a client.
     *
     * @param request the client and the action, {@link io.smqtt.spi.AccessAction#PUBLISH} or
     *     {@link io.smqtt.spi.AccessAction#SUBSCRIBE}
     * @return exactly one decision; {@link AccessDecision#CONTINUE} if the backend does not decide
     */
    default Mono<AccessDecision> authorize(TopicRequest request) {
        return AccessDecision.CONTINUE.now();
    }

    /**
     * Begins what a backend does by itself, such as fetching keys. Called once when the broker starts, not by the check of a configuration.
     * Must not block.
     */
    default void start() {}

    /**
     * Reads again the files that the configuration names, such as keys. Where one cannot be used, what was read before stays in force. Blocks. Called before
     * {@link #refresh}, when the files of the broker are read again.
     *
     * @return the files that were read, and what could not be used, with key and line; nothing by default
     */
    default ReloadResult reload() {
        return ReloadResult.NOTHING;
    }

    /** Fetches again what the backend keeps, such as keys: the broker forgets all answers. Must not block. */
    default void refresh() {}

    /**
     * Closes connections, pools and threads. Called once, not on an event loop; blocks for a few seconds at most.
     */
    void close();
}
