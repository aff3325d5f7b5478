// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a record whose components are configuration keys. Each key is declared once: its {@code @param} in the Javadoc of the record is
 * the text of the reference, the component has its name and type, and a {@link Setting} has its default and bounds. The build reads
 * the texts from the source. For a record with a method {@code toBuilder} it also generates the builder.
 *
 * <p>A value is checked when its record is created by a builder or from a file, and when a {@link BrokerConfig} is created from the
 * records. A constructor checks only rules between values.
 *
 * <p>A component of the type {@code Map<String, ConfigValue>} holds all further keys of the block, which a type of the block declares
 * elsewhere.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ConfigBlock {

    /**
     * The prefix of the keys in messages, unless a file uses other names.
     *
     * @return such as {@code limits}; empty for the top level
     */
    String value();
}
