// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * The commands that backends use, all of which read one key. Keys and fields are arguments of a command, whatever they contain. A key of
 * another type reads as one that does not exist, since clients choose a part of the keys.
 */
@AnyThread
interface Redis {

    /** The maximum number of fields or members that are read; more are an error. */
    int MAXIMUM_VALUES = 1_000;

    /**
     * Reads a text ({@code GET}).
     *
     * @param key the key
     * @return the text; empty if the key does not exist
     */
    Mono<String> text(String key);

    /**
     * Reads fields of a hash ({@code HMGET}).
     *
     * @param key the key
     * @param fields the names of the fields
     * @return those that exist; an empty map if the key does not exist
     */
    Mono<Map<String, String>> fields(String key, List<String> fields);

    /**
     * Reads all fields of a hash ({@code HGETALL}).
     *
     * @param key the key
     * @return at most {@link #MAXIMUM_VALUES}; an empty map if the key does not exist
     */
    Mono<Map<String, String>> allFields(String key);

    /**
     * Reads a set ({@code SMEMBERS}).
     *
     * @param key the key
     * @return at most {@link #MAXIMUM_VALUES}; an empty list if the key does not exist
     */
    Mono<List<String>> members(String key);

    /** Begins to connect. Does not block. */
    void start();

    /** Closes connections and threads. Blocks for a few seconds at most. */
    void close();
}
