# frozen_string_literal: true

require "spec_helper"
require "open3"
require "rbconfig"

RSpec.describe "README.md" do
  it "prints what it says" do
    readme = File.read(File.expand_path("../README.md", __dir__))
    program = readme[/```ruby\n(.*?)```/m, 1]
    output, = Open3.capture2e(RbConfig.ruby, "-I", File.expand_path("../lib", __dir__), "-e", program)
    expect(output).to eq(readme[/```text\n(.*?)```/m, 1])
  end
end
