// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/**
 * What rules may use: {@code smqtt.rule-engine.*}. Immutable.
 *
 * @param threads number of threads that evaluate statements; 0 for one per four cores, at least one
 * @param maxSteps the work that one evaluation may cost: a node of an expression, an element, or 64 bytes of text is one step
 * @param maxResultBytes maximum size of all values that one evaluation makes
 */
@ConfigBlock("rule-engine")
public record RuleEngineConfig(
        @Setting(value = "0", min = "0", max = "256") int threads,

        @Setting(value = "100000", min = "100", max = "100000000")
        int maxSteps,

        @Setting(value = "16MiB", min = "1KiB", max = "1GiB")
        long maxResultBytes) {

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static RuleEngineConfigBuilder builder() {
        return new RuleEngineConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public RuleEngineConfigBuilder toBuilder() {
        return new RuleEngineConfigBuilder(this);
    }
}
