// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Default and bounds of a component of a {@link ConfigBlock}, all in the notation of the configuration file. Nothing else
 * states them: defaults, checks, reference and builder follow.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {

    /**
     * The default, such as {@code 1MiB}. A default in percent of the heap is moved into the bounds.
     *
     * @return empty for an empty text or list, and for null where the component may be null
     */
    String value() default "";

    /**
     * A default that has to be computed.
     *
     * @return the name of a static method of the record, without parameters and not private; empty if {@link #value()} has the default
     */
    String by() default "";

    /**
     * Whether there is no default: the value has to be given where its block is.
     *
     * @return true if it must be given
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
     * How the reference shows a default that is not a constant.
     *
     * @return empty to show the default itself
     */
    String shown() default "";

    /**
     * Whether the value is never shown.
     *
     * @return true for secrets
     */
    boolean secret() default false;

    /**
     * The placeholders that the broker itself fills in when the value is used. Whoever resolves placeholders in configuration
     * leaves these alone.
     *
     * @return each as it is written, such as <code>${user}</code>
     */
    String[] placeholders() default {};
}
