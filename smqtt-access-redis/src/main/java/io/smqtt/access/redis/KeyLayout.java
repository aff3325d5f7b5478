// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/** The keys under which users and rules are. */
@AnyThread
sealed interface KeyLayout permits EmqxKeys, GoAuthKeys {

    /**
     * Reads a user.
     *
     * @param redis reads
     * @param request the client
     * @return the user; empty if there is none
     */
    Mono<StoredUser> user(Redis redis, BackendRequest request);

    /**
     * Reads the rules of a client.
     *
     * @param redis reads
     * @param request the client
     * @return the rules; {@link RedisFailedException} if they cannot be read
     */
    Mono<List<AccessRule>> rules(Redis redis, BackendRequest request);
}
