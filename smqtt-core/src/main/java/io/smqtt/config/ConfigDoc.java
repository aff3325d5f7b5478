// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The text of the generated reference about a key. A test holds {@link #min()} and {@link #max()} against the constructor.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface ConfigDoc {

    /**
     * What the key means.
     *
     * @return one or two clauses without a full stop
     */
    String value();

    /**
     * The smallest value.
     *
     * @return in the key's own notation; empty where there is none
     */
    String min() default "";

    /**
     * The largest value.
     *
     * @return in the key's own notation; empty where there is none
     */
    String max() default "";

    /**
     * The value of a key that is absent from a block which has no defaults of its own.
     *
     * @return in the key's own notation; empty where the key has to be given
     */
    String fallback() default "";

    /**
     * How the default is shown where it is not a constant.
     *
     * @return in the key's own notation where possible; empty to show the default itself
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
