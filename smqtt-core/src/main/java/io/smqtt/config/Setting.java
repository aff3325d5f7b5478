// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The default and the bounds of a component of a {@link ConfigBlock}, in the notation of the configuration file. Defaults, checks,
 * reference and builder are derived from it.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {

    /**
     * The default, such as {@code 1MiB}. A default in percent of the heap is limited to the bounds.
     *
     * @return empty for an empty text or list, or for null if the component may be null
     */
    String value() default "";

    /**
     * The method that computes the default.
     *
     * @return the name of a static method of the record, without parameters and not private; empty if {@link #value()} is the default
     */
    String by() default "";

    /**
     * The word for a duration of zero that has a meaning of its own, such as {@code never}. Zero is shown by this word; {@code 0s} is
     * accepted as well.
     *
     * @return empty if there is none
     */
    String zero() default "";

    /**
     * Whether the key has no default: it must be set if its block is present.
     *
     * @return true if it must be set
     */
    boolean required() default false;

    /**
     * The smallest value.
     *
     * @return empty if there are no bounds
     */
    String min() default "";

    /**
     * The largest value.
     *
     * @return empty if there are no bounds
     */
    String max() default "";

    /**
     * The text of the reference for a default that is not a constant.
     *
     * @return empty to show the default itself
     */
    String shown() default "";

    /**
     * Whether the value must not be shown.
     *
     * @return true for secrets
     */
    boolean secret() default false;

    /**
     * The placeholders that the broker replaces when it uses the value. Other resolvers of placeholders in the configuration must not touch
     * them.
     *
     * @return placeholders, such as <code>${user}</code>
     */
    String[] placeholders() default {};
}
