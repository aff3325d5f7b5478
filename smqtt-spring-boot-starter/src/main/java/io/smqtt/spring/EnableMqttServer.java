// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Starts a broker in the application, as the annotation of the former smqtt did. The starter does so without it; it is for
 * programs that have it, and for those that switch automatic configuration off. The properties are those of this broker.
 *
 * @deprecated leave it out
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Deprecated(since = "0.1.0")
@ImportAutoConfiguration(SmqttAutoConfiguration.class)
public @interface EnableMqttServer {}
