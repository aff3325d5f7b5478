// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** The container annotation of {@link MqttBroker}. */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(MqttBrokerExtension.class)
public @interface MqttBrokers {

    /**
     * The brokers.
     *
     * @return as they are written
     */
    MqttBroker[] value();
}
