// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Takes the level of the topic that a {@link MqttListener} names. The text is converted to the parameter's type. */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface TopicVariable {

    /**
     * The name in the filter.
     *
     * @return empty for the name of the parameter, which takes {@code -parameters} of the compiler
     */
    String value() default "";
}
