// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Selects the broker of a parameter; an {@code int} parameter gets the port of that broker. */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface OfBroker {

    /**
     * The name of the broker.
     *
     * @return as {@link MqttBroker#value()} has it; empty for the only one
     */
    String value() default "";
}
