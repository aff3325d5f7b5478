// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The rules of this node, for operators: those of the configuration, and those that operators have made. Does not block. */
@AnyThread
public interface Rules {

    /**
     * Returns the states of all rules.
     *
     * @return a snapshot, those of the configuration first
     */
    List<RuleStatus> status();

    /**
     * Checks whether the sink of an action can be reached, without writing to it.
     *
     * @param rule the name of the rule
     * @param action the name of the action
     * @return an empty text if it can, otherwise the reason; empty if there is no such action
     */
    Mono<String> probe(String rule, String action);

    /**
     * Returns the types of sinks that are present.
     *
     * @return in alphabetical order
     */
    List<ActionType> types();

    /**
     * Checks whether an action that an operator wants would reach its sink. Nothing is written there, and nothing is kept.
     *
     * @param keys the keys of the action, {@code type} among them, with their texts
     * @return an empty text if it would, otherwise the reason; fails with {@link io.smqtt.config.ConfigurationException} if the keys cannot be used
     */
    Mono<String> probe(Map<String, String> keys);

    /**
     * Checks a rule that an operator wants.
     *
     * @param name its name
     * @param keys the keys of {@code rules.<name>} that it has, with their texts
     * @return what is wrong, one sentence each; empty if it can be used. Nothing is kept
     */
    Mono<List<String>> check(String name, Map<String, String> keys);

    /**
     * Begins a rule of an operator, or replaces it. Queues of actions that it has still stay as they are. Before the broker runs, the rule begins
     * with it.
     *
     * @param name its name
     * @param keys as {@link #check} has them
     * @return completes when the rule has begun; fails with {@link io.smqtt.config.ConfigurationException}
     */
    Mono<Void> put(String name, Map<String, String> keys);

    /**
     * Ends a rule of an operator, with its queues. Rules of the configuration stay.
     *
     * @param name its name
     * @return completes when it has ended, also if there is none
     */
    Mono<Void> remove(String name);

    /**
     * Waits for the changes that were asked for before.
     *
     * @return completes when each of them has been made or has failed: the rules that were begun take messages
     */
    Mono<Void> settled();

    /**
     * Evaluates a statement for a message that a person has made up. Nothing is written anywhere.
     *
     * @param sql the statement
     * @param fields the fields of the message
     * @return the result
     */
    Mono<Trial> test(String sql, Map<String, ? extends @Nullable Object> fields);

    /**
     * The result of a trial.
     *
     * @param problem why there are no rows, for people; null if there are some
     * @param isMistake whether the statement is not valid
     * @param rows the rows; empty if the statement does not select the message
     * @param clauses each clause, an object with its name, text, value and failure
     */
    record Trial(
            @Nullable String problem,
            boolean isMistake,
            List<Map<String, @Nullable Object>> rows,
            List<Map<String, @Nullable Object>> clauses) {

        /** Copies the lists. */
        public Trial {
            rows = List.copyOf(rows);
            clauses = List.copyOf(clauses);
        }
    }
}
