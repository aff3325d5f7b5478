// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import io.smqtt.ReloadResult;
import io.smqtt.thread.AnyThread;
import java.util.List;
import reactor.core.publisher.Mono;

/** Where the keys are that check tokens. */
@AnyThread
interface KeySource {

    /** The most keys that are tried for one token. */
    int MAXIMUM_TRIES = 8;

    /**
     * The keys that may have signed a token. Never blocks.
     *
     * @return at most {@value #MAXIMUM_TRIES} keys; empty if there is none. An error if the keys are not known
     */
    Mono<List<VerificationKey>> keys(SignedToken token);

    /** Begins to fetch keys. */
    default void start() {}

    /** Fetches keys again. */
    default void refresh() {}

    /** Reads keys of a file again; if they cannot be used, the former ones stay in force. Blocks. */
    default ReloadResult reload() {
        return ReloadResult.NOTHING;
    }

    /** Closes connections. Blocks for a few seconds at most. */
    default void close() {}

    /** Keys that are always the same. */
    static KeySource fixed(List<VerificationKey> keys) {
        return token -> Mono.just(suiting(keys, token));
    }

    /** Those of some keys that may have signed a token. */
    static List<VerificationKey> suiting(List<VerificationKey> keys, SignedToken token) {
        return keys.stream()
                .filter(key -> key.suits(token))
                .limit(MAXIMUM_TRIES)
                .toList();
    }
}
